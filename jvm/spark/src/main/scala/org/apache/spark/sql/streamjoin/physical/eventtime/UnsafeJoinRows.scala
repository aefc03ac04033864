package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{EquiKey, KeyHash}
import org.apache.spark.sql.streamjoin.physical.exchange.RowHash
import org.apache.spark.sql.streamjoin.physical.stateful.times.RowTimesReader
import org.apache.spark.sql.streamjoin.physical.timed.TimedJoinSpec

import io.streamjoin.bounds.RowTimes
import io.streamjoin.join.eventtime.JoinRows
import io.streamjoin.model.{BySide, Side}
import io.streamjoin.placement.{ReachBuckets, Routing}

/**
 * Reads the rows of Spark for the join, with generated code. One instance serves one task. Most
 * code is generated on first use, since many a batch needs only a part of it.
 */
private[physical] final class UnsafeJoinRows(
    spec: TimedJoinSpec,
    inputs: BySide[Seq[Attribute]]
) extends JoinRows[UnsafeRow] {

  private val sides = BySide.of(new OneSide(_))
  private lazy val ofAny = pairs(spec.residual.ofAny)
  private lazy val ofOrdinary = pairs(spec.residual.ofOrdinary)
  private val pair = new JoinedRow
  private val oneHashIsOneKey = KeyHash.isExact(spec.equiKeys)

  override def readTimes(side: Side, row: UnsafeRow, into: RowTimes): Unit =
    sides(side).readTimes(row, into)

  override def joinable(side: Side, row: UnsafeRow): Boolean = sides(side).joinable(row)

  override def foundLate(side: Side, row: UnsafeRow): Boolean = sides(side).foundLate(row)

  override def key(side: Side, row: UnsafeRow): Long = sides(side).key(row)

  override def partition(side: Side, row: UnsafeRow, partitions: Int): Int =
    if (oneHashIsOneKey) ReachBuckets.NoPartition
    else sides(side).partition(row, partitions)

  override def matches(l: UnsafeRow, r: UnsafeRow, ordinary: Boolean): Boolean =
    (if (ordinary) ofOrdinary else ofAny) match {
      case Some(predicate) => predicate.eval(pair(l, r))
      case None            => true
    }

  /** None if the key and the times leave no residual condition. */
  private def pairs(residual: Expression): Option[BasePredicate] =
    Option.when(residual != Literal.TrueLiteral)(
      Predicate.create(residual, inputs.left ++ inputs.right)
    )

  private final class OneSide(side: Side) {
    private val (input, keys) = (inputs(side), spec.keys(side))

    private val times = {
      val columns = spec.bounds.indices(side).toArray
      new RowTimesReader(columns, columns.map(spec.times(_)), input)
    }

    private val mayMatch: Option[BasePredicate] =
      (spec.filters(side) ++ EquiKey.notNull(spec.equiKeys, side)).reduceOption(And(_, _))
        .map(Predicate.create(_, input))

    private val lateBelow: Array[Int] = input.indices
      .filter(i => spec.output.late.exists(_.rows.below.exists(_.exprId == input(i).exprId)))
      .toArray

    private lazy val hash = new RowHash(keys, input)

    private var partitionCount = 0
    private var ofKey: UnsafeProjection = _

    def readTimes(row: UnsafeRow, into: RowTimes): Unit = times.read(row, into)

    def joinable(row: UnsafeRow): Boolean = mayMatch match {
      case Some(predicate) => predicate.eval(row)
      case None            => true
    }

    def foundLate(row: UnsafeRow): Boolean = {
      var i = 0
      while (i < lateBelow.length) {
        if (!row.isNullAt(lateBelow(i))) return true
        i += 1
      }
      false
    }

    def key(row: UnsafeRow): Long = if (keys.isEmpty) Routing.NoKey else hash(row)

    def partition(row: UnsafeRow, partitions: Int): Int = {
      if (partitionCount != partitions) {
        ofKey = UnsafeProjection.create(Seq(BucketPlacement.partitionOf(keys, partitions)), input)
        partitionCount = partitions
      }
      ofKey(row).getInt(0)
    }
  }
}
