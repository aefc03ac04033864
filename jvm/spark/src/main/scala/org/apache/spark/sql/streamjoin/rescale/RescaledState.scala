package org.apache.spark.sql.streamjoin.rescale

import java.util.UUID

import scala.collection.mutable

import org.apache.hadoop.fs.Path
import org.apache.spark.{HashPartitioner, TaskContext}
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.UnsafeRowSerializer
import org.apache.spark.sql.execution.streaming.state.StateStoreId
import org.apache.spark.sql.streamjoin.checkpoint.formats.StateFormats
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoin
import org.apache.spark.sql.streamjoin.checkpoint.{StoredRows, StoredVersion}
import org.apache.spark.util.SerializableConfiguration

import io.streamjoin.model.BySide

/**
 * Writes the rows of an operator to new partitions, in a Spark job: one task reads each old
 * partition, a shuffle distributes the rows, and one task writes each new partition.
 *
 * @param to the new number of partitions
 */
private[rescale] final class RescaledState(session: SparkSession, join: StoredJoin, to: Int) {
  import RescaledState._

  private val context = session.sparkContext
  private val hadoopConf =
    context.broadcast(new SerializableConfiguration(session.sessionState.newHadoopConf()))

  private def partitions: RDD[Int] =
    context.parallelize(0 until join.partitions, join.partitions)

  /**
   * Reads all old partitions, and writes nothing.
   *
   * @param keys for each side, the readings of the stored keys that are possible
   */
  def survey(keys: BySide[Seq[KeyReading]]): Seq[Survey] = {
    val (stored, many, conf) = (join, to, hadoopConf)
    partitions.map(Survey.of(stored, keys, many, _, conf.value.value)).collect().toSeq
  }

  /**
   * Writes the new partitions.
   *
   * @param state the folder of the state in the new checkpoint
   * @param contents numbers, watermarks and the count of rows of each new partition
   * @return the IDs of the versions by partition, if the checkpoint records IDs
   */
  def write(
      keys: BySide[Seq[KeyReading]],
      state: Path,
      contents: Seq[Contents]
  ): Option[Seq[String]] = {
    val (stored, before, conf) = (join, join.version(0), hadoopConf)
    val ids = before.checkpointId.map(_ => contents.map(_ => UUID.randomUUID().toString))
    val root = state.toString
    val all = context.broadcast(contents.zipWithIndex.map { case (c, p) =>
      c.copy(id = ids.map(_(p)))
    })
    val format = StateFormats.of(join.description.format)
    val settings = format.settingsOfNew(session.sessionState.conf)
    val moved = new ShuffledRDD[Int, InternalRow, InternalRow](
      rows(keys),
      new HashPartitioner(to)
    ).setSerializer(new UnsafeRowSerializer(MovedRow.Fields))
    moved.foreachPartition { packed =>
      val partition = TaskContext.getPartitionId()
      val own = all.value(partition)
      val store = StateStoreId(root, stored.operator, partition)
      val rows = packed.map(row => MovedRow.read(row._2, stored.rows(_).length))
      format.write(
        StoredVersion(store, before.number, own.id, stored.rows, settings),
        StoredRows(own.numbers, own.evicted.map(_.toArray), rows, () => ()),
        own.count,
        conf.value.value
      )
    }
    ids
  }

  /** All rows, each with its new partition. A row is valid until the next one is read. */
  private def rows(keys: BySide[Seq[KeyReading]]): RDD[(Int, InternalRow)] = {
    val (stored, many, conf) = (join, to, hadoopConf)
    partitions.mapPartitions(_.flatMap { partition =>
      val version = stored.read(partition, conf.value.value, inUse = false)
      TaskContext.get().addTaskCompletionListener[Unit](_ => version.close())
      val places = new RowPlaces(stored, keys, many, partition)
      val moved = new MovedRow
      version.rows.flatMap { row =>
        val targets = mutable.Buffer.empty[(Int, Long)]
        places.foreach(row)((target, key) => targets += target -> key)
        targets.iterator.map { case (target, key) => target -> moved(key, row) }
      }
    })
  }
}

private[rescale] object RescaledState {

  /** @param id ID of the version */
  final case class Contents(
      numbers: Map[String, Long],
      evicted: BySide[Seq[Long]],
      count: Long,
      id: Option[String] = None
  )
}
