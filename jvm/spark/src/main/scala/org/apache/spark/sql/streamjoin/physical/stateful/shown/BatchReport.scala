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
 * @param groups the groups of the source columns that have groups
 */
private[physical] final class BatchReport(
    val emitted: SQLMetric,
    ofPartitions: PartitionCounts,
    watermarks: ExtremeNumbers,
    lastActiveMs: ExtremeNumbers,
    groups: Option[ReportedGroups]
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
    if (partition == 0) groups.foreach(_.add(grouped.zipWithIndex.map(_.swap).toMap))
  }
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
 * Accumulator of the counts of all partitions in one batch. A partition counts once, even if a
 * second attempt or a second action on the batch runs it again.
 *
 * @param onMerge receives on the driver the counts of each task, including repeated ones
 */
private[physical] final class PartitionCounts(@transient onMerge: Map[String, Long] => Unit = _ =>
  ())
    extends AccumulatorV2[(Int, Map[String, Long]), Map[String, Long]] {
  private var counts = Map.empty[Int, Map[String, Long]]

  override def isZero: Boolean = counts.isEmpty
  override def copy(): PartitionCounts = {
    val c = new PartitionCounts
    c.counts = counts
    c
  }
  override def reset(): Unit = counts = Map.empty
  override def add(partition: (Int, Map[String, Long])): Unit = counts += partition
  override def merge(other: AccumulatorV2[(Int, Map[String, Long]), Map[String, Long]]): Unit =
    other match {
      case c: PartitionCounts =>
        counts ++= c.counts
        c.counts.values.foreach(onMerge)
      case _ => throw new UnsupportedOperationException(s"${other.getClass} holds other values")
    }
  override def value: Map[String, Long] =
    counts.values.flatten.groupMapReduce(_._1)(_._2)(_ + _)
}
