package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.streamjoin.checkpoint.{
  LongRow,
  StoredNumbers,
  StoredRow,
  StoredRows,
  StoredVersion
}
import org.apache.spark.sql.streamjoin.spark.StateStore

import io.streamjoin.model.{Side, Watermarks}

/**
 * Reads a version of the state through a separate local copy of the database. It commits nothing
 * and deletes the copy at the end.
 */
private[rocksdb] final class RocksDBReader(version: StoredVersion, hadoopConf: Configuration) {

  private val provider = SeparateDatabase.open(version.store, version.conf, hadoopConf)
  private val opened = mutable.Buffer.empty[FurtherLimits]

  def read(): StoredRows = {
    val store = open()
    try {
      val (own, ofOperator) = numbers(store).partition(n => RocksDBLayout.isOwn(n._1))
      StoredRows(
        ofOperator,
        evicted(own, _),
        Side.both.iterator.flatMap(rows(store, _)),
        () => close(store)
      )
    } catch {
      case e: Throwable =>
        close(store)
        throw e
    }
  }

  private def close(store: StateStore): Unit = {
    store.abort()
    provider.close()
    opened.foreach(_.close())
  }

  private def numbers(store: StateStore): Map[String, Long] =
    store.iterator(StoredNumbers.Family)
      .map(pair => pair.key.getString(0) -> pair.value.getLong(0)).toMap

  /** A limit whose watermark is unknown has no number. */
  private def evicted(numbers: Map[String, Long], side: Side): Array[Long] = {
    val prefix = RocksDBLayout.evictedPrefix(side)
    val known = numbers.keys.filter(_.startsWith(prefix)).map(_.stripPrefix(prefix).toInt)
    Array.tabulate(known.maxOption.fold(0)(_ + 1)) { k =>
      numbers.getOrElse(RocksDBLayout.evictedName(side, k), Watermarks.Unknown)
    }
  }

  private def open(): StateStore =
    try open(provider.getStore(version.number, version.checkpointId))
    catch {
      case e: Throwable =>
        provider.close()
        throw e
    }

  private def open(store: StateStore): StateStore =
    try {
      val numbers = new StoredNumbers(store)
      RocksDBLayout.Number.check(
        version.store.storeCheckpointLocation().toString,
        numbers.get(RocksDBLayout.FormatName)
      )
      for ((name, family) <- RocksDBLayout.schemas(version.rows) if name != StoredNumbers.Family)
        store.createColFamilyIfAbsent(
          name,
          family.keySchema,
          family.valueSchema,
          family.keyStateEncoderSpec.get
        )
      store
    } catch {
      case e: Throwable =>
        // a provider cannot close while its store is in use
        store.abort()
        throw e
    }

  private def rows(store: StateStore, side: Side): Iterator[StoredRow] = {
    val byLimit = rowsByLimit(store, side)
    if (byLimit.hasNext) byLimit else rowsWithoutLimits(store, side)
  }

  private def rowsWithoutLimits(store: StateStore, side: Side): Iterator[StoredRow] =
    store.iterator(RocksDBLayout.rows(side)).map { pair =>
      val (key, value) = (pair.key, pair.value.copy())
      StoredRow(
        side,
        key.getLong(0),
        key.getLong(1),
        Array.emptyLongArray,
        value.getBoolean(0),
        value.getStruct(1, version.rows(side).length)
      )
    }

  /** Rows in the order of their first limit. Other limits are read beforehand. */
  private def rowsByLimit(store: StateStore, side: Side): Iterator[StoredRow] = {
    val fields = version.rows(side).length
    val key = new LongRow(3)
    def limits(first: Boolean): Iterator[(Int, Long, (Long, Long, Long))] =
      store.iterator(RocksDBLayout.limits(side)).map { pair =>
        val k = pair.key
        (k.getLong(0).toInt, k.getLong(1), (k.getLong(2), k.getLong(3), k.getLong(4)))
      }.filter(_._1 == 0 == first)
    val others = further(limits(first = false).map { case (number, limit, (_, _, sequence)) =>
      (sequence, number, limit)
    })
    for {
      (_, limit, (hash, time, sequence)) <- limits(first = true)
      // the limit of a removed row may remain, see StateShape.renewed
      value <- Option(store.get(key(hash, time, sequence), RocksDBLayout.rows(side))).map(_.copy())
    } yield StoredRow(
      side,
      hash,
      time,
      others.fold(Array(limit))(limit +: _.of(sequence)),
      value.getBoolean(0),
      value.getStruct(1, fields)
    )
  }

  /** The limits by row, if there are any. */
  private def further(limits: Iterator[(Long, Int, Long)]): Option[FurtherLimits] =
    Option.when(limits.hasNext) {
      val made = new FurtherLimits(version.conf, hadoopConf)
      opened += made
      limits.foreach { case (sequence, number, limit) => made.put(sequence, number, limit) }
      made
    }
}
