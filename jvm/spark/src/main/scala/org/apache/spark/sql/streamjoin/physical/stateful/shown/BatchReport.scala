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
 * @param ofPartitions all other counts, by partition
 * @param watermarks the watermark of each time column at the end of the batch
 * @param lastActiveMs the time at which each source last had a row, in milliseconds
 * @param groups the groups of the source columns that have groups, by source column
 */
private[physical] final class BatchReport(
    val emitted: SQLMetric,
    ofPartitions: NumberedValues[Map[String, Long]],
    watermarks: ExtremeNumbers,
    lastActiveMs: ExtremeNumbers,
    groups: Option[NumberedValues[GroupedWatermark]]
) extends Serializable {

  def add(
      partition: Int,
      counts: Map[String, Long],
      received: Array[Long],
      active: Array[Long],
      grouped: Seq[GroupedWatermark]
  ): Unit = {
    ofPartitions.add(partition -> counts)
    watermarks.add(received)
    lastActiveMs.add(active)
    // all partitions have the same
    if (partition == 0) for (all <- groups; (of, i) <- grouped.zipWithIndex) all.add(i -> of)
  }
}

private[physical] object BatchReport {

  /** The counts of all partitions together. */
  def sum(ofPartitions: Map[Int, Map[String, Long]]): Map[String, Long] =
    ofPartitions.values.flatten.groupMapReduce(_._1)(_._2)(_ + _)
}

/**
 * Accumulator of a vector of numbers: for each position, the largest number of all tasks, or the
 * smallest one. Without a report, each number is `Watermarks.Unknown`.
 */
private[physical] final class ExtremeNumbers(size: Int, smallest: Boolean = false)
    extends AccumulatorV2[Array[Long], Array[Long]] {
  private var numbers: Option[Array[Long]] = None

  private def pick(a: Long, b: Long): Long = if (smallest) math.min(a, b) else math.max(a, b)

  override def isZero: Boolean = numbers.isEmpty
  override def copy(): ExtremeNumbers = {
    val c = new ExtremeNumbers(size, smallest)
    c.numbers = numbers
    c
  }
  override def reset(): Unit = numbers = None
  override def add(v: Array[Long]): Unit =
    numbers = Some(numbers.fold(v.clone())(_.zip(v).map { case (a, b) => pick(a, b) }))
  override def merge(other: AccumulatorV2[Array[Long], Array[Long]]): Unit =
    if (!other.isZero) add(other.value)
  override def value: Array[Long] = numbers.fold(Array.fill(size)(Watermarks.Unknown))(_.clone())
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
