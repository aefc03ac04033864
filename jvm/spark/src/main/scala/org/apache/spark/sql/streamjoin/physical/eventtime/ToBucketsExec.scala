package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  Expression,
  SortOrder,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.plans.physical.{
  HashPartitioning,
  Partitioning,
  StatefulOpClusteredDistribution,
  UnknownPartitioning
}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.streamjoin.logical.plan.KeyHash
import org.apache.spark.sql.streamjoin.physical.stateful.RowTimesReader

import io.streamjoin.bounds.{RowBounds, RowTimes}
import io.streamjoin.model.Side
import io.streamjoin.placement.{MaybePartition, Routing}

/**
 * Each row once for each partition of the join that it goes to, with a number by which a shuffle brings it there.
 *
 * @param number the column of that number
 */
case class ToBucketsExec(
    spec: StreamJoinSpec,
    side: Side,
    partitions: Int,
    number: Attribute,
    child: SparkPlan
) extends UnaryExecNode {

  override def nodeName: String = "ToBuckets"

  override def simpleString(maxFields: Int): String = nodeName

  override def output: Seq[Attribute] = child.output :+ number

  override def producedAttributes: AttributeSet = AttributeSet(number)

  override def outputPartitioning: Partitioning =
    UnknownPartitioning(child.outputPartitioning.numPartitions)

  override def outputOrdering: Seq[SortOrder] = Nil

  override protected def doExecute(): RDD[InternalRow] = {
    val (of, on, columns) = (spec, side, child.output)
    val numbers = ToBucketsExec.numbers(number, partitions)
    child.execute().mapPartitionsInternal { rows =>
      new ToBuckets(of, on, columns, number, numbers, rows.asInstanceOf[Iterator[UnsafeRow]])
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ToBucketsExec =
    copy(child = newChild)
}

private[eventtime] object ToBucketsExec {

  /** The partition of a row that goes by its key, as Spark's own shuffle has it. */
  def partitionOf(keys: Seq[Expression], partitions: Int): Expression = {
    val place = StatefulOpClusteredDistribution(keys, partitions).createPartitioning(partitions)
    place.asInstanceOf[HashPartitioning].partitionIdExpression
  }

  /** For each partition, a number that Spark's hash brings there. */
  def numbers(column: Attribute, partitions: Int): Array[Int] = {
    val place = UnsafeProjection.create(
      Seq(HashPartitioning(Seq(column), partitions).partitionIdExpression),
      Seq(column)
    )
    val found = Array.fill(partitions)(-1)
    Iterator.from(0).map(n => n -> place(InternalRow(n)).getInt(0)).takeWhile { case (n, p) =>
      if (found(p) < 0) found(p) = n
      found.contains(-1)
    }.foreach(_ => ())
    found
  }
}

/** @param numbers of the partitions */
private[eventtime] final class ToBuckets(
    spec: StreamJoinSpec,
    side: Side,
    columns: Seq[Attribute],
    number: Attribute,
    numbers: Array[Int],
    rows: Iterator[UnsafeRow]
) extends Iterator[InternalRow] {

  private val routing = spec.routing.asInstanceOf[Routing.ByBuckets]
  private val partitions = numbers.length
  private val bounds = new RowBounds(spec.bounds, side)
  private val times = new RowTimes(spec.bounds.columns.length)

  private val reader = {
    val column = spec.bounds.probeColumn(side)
    new RowTimesReader(Array(column), Array(spec.times(column)), columns)
  }

  /** The hash of the row's key, and the partition of its key, where there are keys. */
  private val byKey: Option[UnsafeProjection] = Option.when(spec.equiKeys.nonEmpty) {
    val keys = spec.equiKeys.map(_.of(side))
    UnsafeProjection.create(
      Seq(KeyHash.of(keys), ToBucketsExec.partitionOf(keys, partitions)),
      columns
    )
  }

  private val numbered = GenerateUnsafeRowJoiner.create(
    DataTypeUtils.fromAttributes(columns),
    DataTypeUtils.fromAttributes(Seq(number))
  )
  private val place = UnsafeProjection.create(Seq(number), Seq(number))(InternalRow(0))

  /** The row that came out last, of which there is one more. */
  private var again: UnsafeRow = _
  private var replicaIn = MaybePartition.None

  override def hasNext: Boolean = replicaIn.nonEmpty || rows.hasNext

  override def next(): InternalRow =
    if (replicaIn.nonEmpty) {
      again.setInt(columns.length, numbers(replicaIn.get))
      replicaIn = MaybePartition.None
      again
    } else {
      val row = rows.next()
      place.setInt(0, numbers(home(row)))
      again = numbered.join(row, place)
      again
    }

  private def home(row: UnsafeRow): Int = {
    val placed = byKey.map(_(row))
    val key = placed.fold(Routing.NoKey)(_.getLong(0))
    reader.read(row, times)
    val bucket =
      if (bounds.hasProbeTime(times)) {
        val time = bounds.probeTime(times)
        val keyPartition =
          if (placed.isEmpty) MaybePartition.None else MaybePartition(placed.get.getInt(1))
        replicaIn = routing.replica(side, key, time, partitions, keyPartition)
        routing.owner(side, key, time, partitions, keyPartition)
      } else {
        MaybePartition.None
      }
    if (bucket.nonEmpty) bucket.get
    else placed.fold(Math.floorMod(row.hashCode, partitions))(_.getInt(1))
  }
}
