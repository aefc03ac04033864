package org.apache.spark.sql.streamjoin.checkpoint.simulation

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.{StateShape, StoredNumbers}

import io.streamjoin.join.asof.{AsOfBounds, AsOfDriver}
import io.streamjoin.model.{BySide, JoinType, Side, Watermarks}
import io.streamjoin.state.JoinState
import io.streamjoin.testing.{HeapJoinState, TestRow}

/** A random as-of join. Its last unit is the end of time. */
private[simulation] final class AsOfOperator(
    random: Random,
    override val partitions: Int,
    length: Int
) extends RowOperator {
  import AsOfOperator._

  private val bounds = AsOfBounds(
    Side.Left,
    1 + random.nextInt(2),
    random.nextInt(4).toLong,
    Option.when(random.nextBoolean())(random.nextInt(10).toLong)
  )
  private val joinType = Types(random.nextInt(Types.length))
  private val lags = BySide.of(_ => random.nextInt(6).toLong)
  override protected val rows: IndexedSeq[TestRow] = (0 until length - 1).map { i =>
    TestRow(
      Side.both(random.nextInt(2)),
      Map(0 -> (i + random.nextInt(9).toLong)),
      Some(random.nextInt(3).toLong),
      name = s"$i"
    )
  }
  private val table = new RowTable[TestRow]

  private def time(row: TestRow): Long = row.times(0)

  override val shape: StateShape = StateShape(
    _ => Operator.schema,
    _ => 1,
    _ => 1L,
    (side, row, settled) => Array(bounds.evictionLimit(side, time(table.decode(row)), settled))
  )

  private def driver(state: JoinState[TestRow], received: Side => Long) =
    new AsOfDriver(joinType, bounds, state, begins = received)

  private def advanced(before: Side => Long, units: Range): BySide[Long] = BySide.of { side =>
    val largest = of(units).filter(_.side == side).map(time(_) - lags(side)).maxOption
    if (endsIn(units)) EndOfTime
    else largest.fold(before(side))(math.max(before(side), _))
  }

  override def run(
      partition: Int,
      units: Range,
      state: JoinState[UnsafeRow],
      numbers: StoredNumbers,
      random: Random
  ): Seq[Any] = {
    val before = BySide.of(s => numbers.get(s"watermark.${s.name}").getOrElse(Watermarks.Unknown))
    val now = advanced(before, units)
    val own = random.shuffle(of(units, partition))
    val emitted = driver(new DecodedState(state, table), before).batch(own, now)
    for (side <- Side.both if now(side) != Watermarks.Unknown)
      numbers.put(s"watermark.${side.name}", now(side))
    emitted
  }

  /** R21, R22: a probe row that is due, with the last rows of its key. */
  override def expected(partition: Int, ends: Seq[Int]): IndexedSeq[Seq[Any]] = {
    val unknown = BySide.of(_ => Watermarks.Unknown)
    val rules = driver(new HeapJoinState[TestRow](identity), unknown)
    var watermarks = unknown
    var came = Seq.empty[TestRow]
    added(ends) { units =>
      came ++= of(units, partition).filter(r => time(r) >= watermarks(r.side))
      watermarks = advanced(watermarks, units)
      val limit = bounds.limit(watermarks)
      val builds = came.filter(_.side == bounds.build)
      val due = came.filter(r => r.side == bounds.probe && bounds.due(r.side, time(r)) < limit)
      due.flatMap(rules.expected(_, builds))
    }
  }

  override def toString: String =
    s"as-of, ${joinType.name}, $bounds, lags $lags, $partitions partitions"
}

private[simulation] object AsOfOperator {
  private val EndOfTime = 10000L
  private val Types = Seq(JoinType.Inner, JoinType.LeftOuter, JoinType.LeftSemi, JoinType.LeftAnti)
}
