package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import org.apache.hadoop.conf.Configuration
import org.apache.spark.serializer.JavaSerializer
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.streamjoin.checkpoint.{
  FormatNumber,
  LongRow,
  OnFailure,
  StoredNumbers,
  StoredRow,
  StoredRows,
  StoredVersion
}
import org.apache.spark.util.collection.ExternalAppendOnlyMap
import org.apache.spark.{SparkEnv, TaskContext}

import io.streamjoin.model.{Side, Watermarks}

/**
 * Reads a version of the state through a separate local copy of the database, in a task. It commits
 * nothing and deletes the copy at the end.
 */
private[rocksdb] final class RocksDBReader(version: StoredVersion, hadoopConf: Configuration) {
  import RocksDBReader._

  private val provider = SeparateDatabase.open(version.store, version.conf, hadoopConf)
  private var opened = Option.empty[StateStore]

  def read(): StoredRows =
    OnFailure(close()) {
      val store = provider.getStore(version.number, version.checkpointId)
      opened = Some(store)
      val numbers = new StoredNumbers(store)
      FormatNumber.check(
        version.store.storeCheckpointLocation().toString,
        RocksDBLayout.Format,
        numbers.get(RocksDBLayout.FormatName)
      )
      for (side <- Side.both; family <- RocksDBLayout.families(side, version.rows(side)))
        store.createColFamilyIfAbsent(
          family.colFamilyName,
          family.keySchema,
          family.valueSchema,
          family.keyStateEncoderSpec.get
        )
      val (own, ofOperator) = numbers.startingWith("").partition(n => RocksDBLayout.isOwn(n._1))
      StoredRows(
        ofOperator,
        evicted(own, _),
        Side.both.iterator.flatMap(rows(store, _)),
        () => close()
      )
    }

  /** A provider cannot close while its store is in use. */
  private def close(): Unit = {
    opened.foreach(_.abort())
    provider.close()
  }

  /** A limit whose watermark is unknown has no number. */
  private def evicted(numbers: Map[String, Long], side: Side): Array[Long] = {
    val prefix = RocksDBLayout.evictedPrefix(side)
    val known = numbers.keys.filter(_.startsWith(prefix)).map(_.stripPrefix(prefix).toInt)
    Array.tabulate(known.maxOption.fold(0)(_ + 1)) { k =>
      numbers.getOrElse(RocksDBLayout.evictedName(side, k), Watermarks.Unknown)
    }
  }

  private def rows(store: StateStore, side: Side): Iterator[StoredRow] = {
    def limits: Iterator[Limit] = store.iterator(RocksDBLayout.limits(side)).map { pair =>
      val k = pair.key
      Limit(k.getLong(0).toInt, k.getLong(1), RowKey(k.getLong(2), k.getLong(3), k.getLong(4)))
    }
    val key = new LongRow(3)
    def row(of: RowKey, limits: Array[Long]): Option[StoredRow] =
      // the limit of a removed row may remain, see StateShape.renewed
      Option(store.get(key(of.hash, of.time, of.sequence), RocksDBLayout.rows(side)))
        .map(value => stored(side, of, limits, value))
    limits.map(_.number).maxOption match {
      case None =>
        store.iterator(RocksDBLayout.rows(side)).map { pair =>
          val k = pair.key
          val of = RowKey(k.getLong(0), k.getLong(1), k.getLong(2))
          stored(side, of, Array.emptyLongArray, pair.value)
        }
      // the most frequent case needs no map
      case Some(0) => limits.flatMap(l => row(l.row, Array(l.limit)))
      case _ =>
        byRow(limits).flatMap { case (of, own) =>
          row(of, own.sortBy(_.number).map(_.limit).toArray)
        }
    }
  }

  private def stored(
      side: Side,
      key: RowKey,
      limits: Array[Long],
      shared: UnsafeRow
  ): StoredRow = {
    val value = shared.copy()
    val row = value.getStruct(1, version.rows(side).length)
    StoredRow(side, key.hash, key.time, limits, value.getBoolean(0), row)
  }

  /**
   * The limits of each row. The layout has them in the order of eviction. They may exceed the
   * memory, so Spark's map spills them to the local disk.
   */
  private def byRow(limits: Iterator[Limit]): Iterator[(RowKey, List[Limit])] = {
    val found = new ExternalAppendOnlyMap[RowKey, Limit, List[Limit]](
      List(_),
      (some, one) => one :: some,
      _ ::: _,
      // the serializer of the session may refuse classes that are not registered
      new JavaSerializer(SparkEnv.get.conf)
    )
    // a task may stop before the last row
    TaskContext.get().addTaskCompletionListener[Unit](_ => found.releaseMemory())
    found.insertAll(limits.map(limit => limit.row -> limit))
    found.iterator
  }
}

private object RocksDBReader {

  private final case class RowKey(hash: Long, time: Long, sequence: Long)

  /** @param number the number of the limit of the row, from 0 */
  private final case class Limit(number: Int, limit: Long, row: RowKey)
}
