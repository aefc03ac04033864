package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.physical.{
  HashPartitioning,
  Partitioning,
  StatefulOpClusteredDistribution,
  UnknownPartitioning
}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.logical.plan.analysis.KeyHash
import org.apache.spark.sql.streamjoin.physical.exchange.{
  ExchangePlacement,
  NumberedRow,
  StreamExchangeExec
}
import org.apache.spark.sql.streamjoin.physical.stateful.times.RowTimesReader
import org.apache.spark.sql.streamjoin.physical.timed.TimedJoinSpec

import io.streamjoin.bounds.{RowBounds, RowTimes}
import io.streamjoin.model.Side
import io.streamjoin.placement.{ReachBuckets, Routing}

/**
 * Placement that assigns a row to the partition of its time bucket, and its replica to the
 * partition of a neighbouring bucket.
 *
 * {{{
 *   buckets of 1 hour, partners at most 5 minutes apart
 *     a row of 12:30   partition of the bucket 12:00
 *     a row of 12:58   partition of the bucket 12:00, replica in that of 13:00
 * }}}
 */
private[eventtime] final case class BucketPlacement(
    spec: TimedJoinSpec,
    side: Side,
    partitions: Int
) extends ExchangePlacement {

  override def partitioning: Partitioning = UnknownPartitioning(partitions)

  override def numbered(
      rows: Iterator[InternalRow],
      columns: Seq[Attribute]
  ): Iterator[NumberedRow] =
    new BucketRows(this, columns, rows.asInstanceOf[Iterator[UnsafeRow]])

  override def toString: String = "by time bucket"
}

private[streamjoin] object BucketPlacement {

  /**
   * The input behind an exchange by time bucket; the input itself if the routing has no buckets.
   */
  private[eventtime] def over(
      input: SparkPlan,
      spec: TimedJoinSpec,
      side: Side,
      partitions: Int
  ): SparkPlan =
    spec.routing match {
      case _: Routing.ByBuckets =>
        StreamExchangeExec(BucketPlacement(spec, side, partitions), None, input)
      case _ => input
    }

  /** The partition ID of a row that is routed by its key, equal to that of Spark's shuffle. */
  def partitionOf(keys: Seq[Expression], partitions: Int): Expression = {
    val place = StatefulOpClusteredDistribution(keys, partitions).createPartitioning(partitions)
    place.asInstanceOf[HashPartitioning].partitionIdExpression
  }
}

private final class BucketRows(
    placement: BucketPlacement,
    columns: Seq[Attribute],
    rows: Iterator[UnsafeRow]
) extends Iterator[NumberedRow] {
  import placement.{partitions, side, spec}

  private val routing = spec.routing.asInstanceOf[Routing.ByBuckets]
  private val bounds = new RowBounds(spec.bounds, side)
  private val times = new RowTimes(spec.bounds.columns.length)
  private val pair = new NumberedRow

  private val reader = {
    val column = spec.bounds.probeColumn(side)
    new RowTimesReader(Array(column), Array(spec.times(column)), columns)
  }

  /** Computes the hash of the row's key and the partition of the key. None without an equality. */
  private val byKey: Option[UnsafeProjection] = Option.when(spec.equiKeys.nonEmpty) {
    val keys = spec.keys(side)
    UnsafeProjection.create(
      Seq(KeyHash.of(keys), BucketPlacement.partitionOf(keys, partitions)),
      columns
    )
  }

  /** The partition of the last row's replica, which the iterator emits next. */
  private var replica = ReachBuckets.NoPartition

  override def hasNext: Boolean = replica != ReachBuckets.NoPartition || rows.hasNext

  override def next(): NumberedRow =
    if (replica != ReachBuckets.NoPartition) {
      val number = replica
      replica = ReachBuckets.NoPartition
      pair.to(number, pair.row)
    } else {
      val row = rows.next()
      pair.to(owner(row), row)
    }

  private def owner(row: UnsafeRow): Int = {
    val placed = byKey.map(_(row))
    val keyPartition = if (placed.isEmpty) ReachBuckets.NoPartition else placed.get.getInt(1)
    reader.read(row, times)
    val bucket =
      if (bounds.hasProbeTime(times)) {
        val key = placed.fold(Routing.NoKey)(_.getLong(0))
        val time = bounds.probeTime(times)
        replica = routing.replica(side, key, time, partitions, keyPartition)
        routing.owner(side, key, time, partitions, keyPartition)
      } else {
        ReachBuckets.NoPartition
      }
    if (bucket != ReachBuckets.NoPartition) bucket
    else if (keyPartition != ReachBuckets.NoPartition) keyPartition
    else Math.floorMod(row.hashCode, partitions)
  }
}
