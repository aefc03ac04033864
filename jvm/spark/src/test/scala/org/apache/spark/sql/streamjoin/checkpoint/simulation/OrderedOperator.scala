package org.apache.spark.sql.streamjoin.checkpoint.simulation

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.{StateShape, StoredNumbers}

import io.streamjoin.join.Counters
import io.streamjoin.join.ordered.{OrderOperator, OrderedRows}
import io.streamjoin.model.{Side, Watermarks}
import io.streamjoin.state.JoinState
import io.streamjoin.testing.TestRow

/** The ordered output of a stream, before the sort of each batch. Its last unit is the end of time. */
private[simulation] final class OrderedOperator(
    random: Random,
    override val partitions: Int,
    length: Int
) extends RowOperator {
  import OrderedOperator._

  private val tied = random.nextBoolean()
  private val lag = random.nextInt(6).toLong
  override protected val rows: IndexedSeq[TestRow] = (0 until length - 1).map { i =>
    TestRow(
      Side.Left,
      if (random.nextInt(8) == 0) Map.empty else Map(0 -> (i + random.nextInt(9).toLong)),
      Some(random.nextInt(3).toLong),
      name = s"$i"
    )
  }
  private val table = new RowTable[TestRow]

  override val shape: StateShape = StateShape(
    _ => Operator.schema,
    _ => 1,
    _ => 1L,
    (_, row, _) => Array(Rows.time(table.decode(row)))
  )

  private def advanced(before: Long, units: Range): Long =
    if (endsIn(units)) EndOfTime
    else of(units).flatMap(_.times.get(0)).maxOption.fold(before)(t => math.max(before, t - lag))

  override def run(
      partition: Int,
      units: Range,
      state: JoinState[UnsafeRow],
      numbers: StoredNumbers,
      random: Random
  ): Seq[Any] = {
    val before = numbers.get("limit").getOrElse(Watermarks.Unknown)
    val operator =
      new OrderOperator[TestRow](Rows, tied, new DecodedState(state, table), new Counters)
    operator.begin(before, advanced(before, units))
    val emitted = random.shuffle(of(units, partition)).filter(operator.passes) ++ operator.release()
    if (operator.limit != Watermarks.Unknown) numbers.put("limit", operator.limit)
    emitted
  }

  /** R20: the rows that a limit reaches, without those below the limit of the batch before. */
  override def expected(partition: Int, ends: Seq[Int]): IndexedSeq[Seq[Any]] = {
    var limit = Watermarks.Unknown
    var came, due = Seq.empty[TestRow]
    Operator.batches(ends).map { units =>
      came ++= of(units, partition).filter(_.times.get(0).forall(_ >= limit))
      limit = advanced(limit, units)
      val before = due
      due = came.filter(_.times.get(0).forall(t => t < limit || !tied && t == limit))
      due.diff(before)
    }.toIndexedSeq
  }

  override def toString: String =
    s"ordered output, ${if (tied) "further sort keys, " else ""}lag $lag, $partitions partitions"
}

private[simulation] object OrderedOperator {
  private val EndOfTime = 10000L

  private object Rows extends OrderedRows[TestRow] {
    override def isTimeless(row: TestRow): Boolean = !row.times.contains(0)
    override def time(row: TestRow): Long = row.times(0)
  }
}
