package org.apache.spark.sql.streamjoin.checkpoint.simulation

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.{StateShape, StoredNumbers}

import io.streamjoin.bounds.{RowBounds, RowTimes}
import io.streamjoin.join.Counters
import io.streamjoin.join.eventtime.{EventTimeJoin, JoinStats}
import io.streamjoin.model.{BySide, JoinType, Side, Watermarks}
import io.streamjoin.state.JoinState
import io.streamjoin.testing.{Emitted, RandomJoin, Reference, TestRow, Wm}

/** A random event-time join. Its last unit is the end of time. */
private[simulation] final class EventTimeOperator(random: Random, override val partitions: Int)
    extends RowOperator {

  private val joinType = JoinType.all(random.nextInt(JoinType.all.length))
  private val join = RandomJoin.admissible(random, maxColumns = 1 + random.nextInt(2))
  override protected val rows: IndexedSeq[TestRow] =
    join.events(12 + random.nextInt(12)).collect { case row: TestRow => row }.toIndexedSeq
  private val columns = join.columns.indices
  private val lags = columns.map(_ => random.nextInt(4).toLong)
  private val table = new RowTable[TestRow]
  private val bounds = BySide.of(new RowBounds(join.bounds, _))
  private val span = 1L + random.nextInt(8)
  private val times = new RowTimes(join.columns.length)

  /** The number of units. */
  val length: Int = rows.length + 1

  override val shape: StateShape = StateShape(
    _ => Operator.schema,
    join.bounds.limiting(_).length,
    _ => span,
    (side, row, _) => limits(side, table.decode(row))
  )

  private def limits(side: Side, row: TestRow): Array[Long] = {
    val found = new Array[Long](bounds(side).limitCount)
    join.rows.readTimes(side, row, times)
    bounds(side).limits(times, found)
    found
  }

  /** R1: the watermarks at the end of a batch. */
  private def advanced(before: Seq[Long], units: Range): Seq[Long] = columns.map { column =>
    val largest =
      if (endsIn(units)) Some(Reference.endOfTime.toLong)
      else of(units).flatMap(_.times.get(column)).maxOption.map(_ - lags(column))
    if (join.columns(column).watermarked) largest.fold(before(column))(math.max(before(column), _))
    else Watermarks.Unknown
  }

  override def run(
      partition: Int,
      units: Range,
      state: JoinState[UnsafeRow],
      numbers: StoredNumbers,
      random: Random
  ): Seq[Any] = {
    val before = columns.map(c => numbers.get(s"watermark.$c").getOrElse(Watermarks.Unknown))
    val now = advanced(before, units)
    val operator = new EventTimeJoin[TestRow, Emitted](
      joinType,
      join.bounds,
      join.rows,
      join.output,
      new DecodedState(state, table),
      JoinStats(new Counters)
    )
    operator.restore(before.toArray)
    val own = random.shuffle(of(units, partition))
    val (left, right) = own.partition(_.side == Side.Left)
    val emitted = left.flatMap(row => operator.process(Side.Left, row).toList) ++
      right.flatMap(row => operator.process(Side.Right, row, keepFor = now.toArray).toList) ++
      operator.advance(now.toArray).toList
    for (c <- columns if now(c) != Watermarks.Unknown) numbers.put(s"watermark.$c", now(c))
    emitted
  }

  override def expected(partition: Int, ends: Seq[Int]): IndexedSeq[Seq[Any]] = {
    val reference = new Reference(join, joinType)
    var watermarks: Seq[Long] = columns.map(_ => Watermarks.Unknown)
    added(ends) { units =>
      val (left, right) = of(units, partition).partition(_.side == Side.Left)
      (left ++ right).foreach(reference.see)
      watermarks = advanced(watermarks, units)
      for (c <- columns if watermarks(c) != Watermarks.Unknown) reference.see(Wm(c, watermarks(c)))
      reference.outputSoFar
    }
  }

  override def toString: String =
    s"${joinType.name}, $join, lags ${lags.mkString(", ")}, $partitions partitions"
}
