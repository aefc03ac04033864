package org.apache.spark.sql.streamjoin.physical.stateful.shown

import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.util.AccumulatorV2

import io.streamjoin.model.Watermarks
import io.streamjoin.watermark.GroupedWatermark

/**
 * Accumulators to which the tasks of one batch report.
 *
 * They are few, because Spark serializes each accumulator for every task and returns it to the
 * driver.
 *
 * @param emitted counts the output rows
 * @param groups the groups of the source columns that have groups, by source column
 */
private[physical] final class BatchReport(
    val emitted: SQLMetric,
    ofPartitions: NumberedValues[PartitionReport],
    groups: Option[NumberedValues[GroupedWatermark]]
) extends Serializable {

  def add(partition: Int, report: PartitionReport, grouped: Seq[GroupedWatermark]): Unit = {
    ofPartitions.add(partition -> report)
    // all partitions have the same
    if (partition == 0) for (all <- groups; (of, i) <- grouped.zipWithIndex) all.add(i -> of)
  }
}

/**
 * What a partition reports of a batch.
 *
 * @param counts all counts but that of the output rows
 * @param watermarks the watermark of each time column at the end of the batch
 * @param lastActiveMs the time at which each source last had a row, in milliseconds
 */
private[physical] final case class PartitionReport(
    counts: Map[String, Long],
    watermarks: Array[Long],
    lastActiveMs: Array[Long]
)

private[physical] object BatchReport {

  /** The counts of all partitions together. */
  def sum(ofPartitions: Iterable[Map[String, Long]]): Map[String, Long] =
    ofPartitions.flatten.groupMapReduce(_._1)(_._2)(_ + _)

  /** For each position, the largest number of all vectors; `Unknown` without vectors. */
  def largest(vectors: Iterable[Array[Long]], size: Int): Array[Long] =
    extreme(vectors, size)(math.max)

  /** For each position, the smallest number of all vectors; `Unknown` without vectors. */
  def smallest(vectors: Iterable[Array[Long]], size: Int): Array[Long] =
    extreme(vectors, size)(math.min)

  private def extreme(vectors: Iterable[Array[Long]], size: Int)(pick: (Long, Long) => Long) =
    vectors.reduceOption(_.zip(_).map(pick.tupled)).getOrElse(Array.fill(size)(Watermarks.Unknown))
}

/**
 * Accumulator of one value for each number, as the counts of each partition. A number has one
 * value, even if a second attempt or a second action on the batch runs its task again.
 *
 * @param onMerge receives on the driver the values of each task, including repeated ones
 */
private[physical] final class NumberedValues[V](
    @transient onMerge: Map[Int, V] => Unit = (_: Map[Int, V]) => ()
) extends AccumulatorV2[(Int, V), Map[Int, V]] {
  private var values = Map.empty[Int, V]

  override def isZero: Boolean = values.isEmpty
  override def copy(): NumberedValues[V] = {
    val c = new NumberedValues[V]
    c.values = values
    c
  }
  override def reset(): Unit = values = Map.empty
  override def add(value: (Int, V)): Unit = values += value
  override def merge(other: AccumulatorV2[(Int, V), Map[Int, V]]): Unit = {
    values ++= other.value
    onMerge(other.value)
  }
  override def value: Map[Int, V] = values
}
