package org.apache.spark.sql.streamjoin.rewrite

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.streamjoin.checkpoint.StoredRow
import org.apache.spark.util.SerializableConfiguration

import io.streamjoin.model.BySide

/**
 * The rows of one operator, for a new checkpoint. [[StateWriter]] writes them, whatever they are read
 * from.
 *
 * @tparam F what a task finds out about its rows
 */
private[streamjoin] trait RowReader[F] extends Serializable {

  /** One element for each task. It is used in that task only. */
  def parts(
      context: SparkContext,
      hadoopConf: Broadcast[SerializableConfiguration]
  ): RDD[RowPart[F]]
}

private[streamjoin] object RowReader {

  /** Reads parts by their numbers. */
  def numbered[F](
      parts: Int,
      context: SparkContext,
      hadoopConf: Broadcast[SerializableConfiguration]
  )(open: (Int, Configuration) => RowPart[F]): RDD[RowPart[F]] =
    context.parallelize(0 until parts, math.max(1, parts)).map(open(_, hadoopConf.value.value))
}

/** The rows that one task reads. */
private[streamjoin] trait RowPart[F] {

  def partition: Int

  /** The named numbers beside its rows. */
  def numbers: Map[String, Long]

  /** The watermarks of its last eviction, by side and limit. */
  def evicted: BySide[Seq[Long]]

  /** All rows, each with its new partition. A row is valid until the next one is read. */
  def rows: Iterator[(Int, StoredRow)]

  /** What all rows together show. It is called after they have been read. */
  def found: F

  def close(): Unit
}
