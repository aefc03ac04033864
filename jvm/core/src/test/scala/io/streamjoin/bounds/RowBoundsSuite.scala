package io.streamjoin.bounds

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.streamjoin.model.Watermarks.Unknown
import io.streamjoin.model.Side
import io.streamjoin.testing.{TestJoin, TestRow}

class RowBoundsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** `bid.time BETWEEN auction.time AND auction.expires` */
  private object auctions extends TestJoin {
    val time = left("auction.time")
    val expires = left("auction.expires", watermarked = false, nullable = true)
    val bid = right("bid.time")
    on(bid.between(time, expires + 0))
  }

  private def times(join: TestJoin, row: TestRow): RowTimes = {
    val times = new RowTimes(join.columns.length)
    join.rows.readTimes(row.side, row, times)
    times
  }

  private def boundsOf(join: TestJoin, side: Side) = new RowBounds(join.bounds, side)

  private def survives(rows: RowBounds, times: RowTimes, watermarks: Array[Long]): Boolean = {
    val limits = new Array[Long](rows.limitCount)
    rows.limits(times, limits)
    rows.survives(limits, watermarks)
  }

  test("a bound on a value of a row is the eviction limit of this row") {
    import auctions._
    val rows = boundsOf(auctions, Side.Left)
    assert(rows.limitCount == 1)
    assert(rows.limitColumn(0) == bid.index)
    // expires >= bid: the row is evicted when W(bid) exceeds its own 17
    assert(rows.limit(times(auctions, l(10, 17)), 0) == 17)
    assert(survives(rows, times(auctions, l(10, 17)), Array(Unknown, Unknown, 17L)))
    assert(!survives(rows, times(auctions, l(10, 17)), Array(Unknown, Unknown, 18L)))
  }

  test("a row is inconsistent if its own times violate the condition") {
    import auctions._
    val rows = boundsOf(auctions, Side.Left)
    assert(rows.consistent(times(auctions, l(10, 10))))
    // expires >= bid >= time
    assert(!rows.consistent(times(auctions, l(10, 9))))
  }

  test("a row lacks a time only if a column that the condition bounds is NULL") {
    object partly extends TestJoin {
      val a = left("a", nullable = true)
      val free = left("free", nullable = true)
      val b = right("b")
      on(a === b)
    }
    import partly._
    val rows = boundsOf(partly, Side.Left)
    assert(rows.lacksTime(times(partly, l(1, 2).without(a))))
    assert(!rows.lacksTime(times(partly, l(1, 2).without(free))))
    assert(!rows.lacksTime(times(partly, l(1, 2))))
  }

  test("a row is late strictly below the watermark of a watermarked column, and NULL is not") {
    import auctions._
    val rows = boundsOf(auctions, Side.Left)
    val watermarks = Array(10L, 100L, 1000L)
    assert(rows.lateBy(times(auctions, l(10, 17)), watermarks) == -1)
    assert(rows.lateBy(times(auctions, l(9, 17)), watermarks) == time.index)
    assert(rows.lateBy(times(auctions, l(9, 17).without(time)), watermarks) == -1)
  }

  test("the probe range is the intersection of the bounds of all columns of the row") {
    object two extends TestJoin {
      val a = left("a")
      val x = left("x")
      val b = right("b")
      on(b.between(a - 5, a + 5), b.between(x - 2, x + 9))
    }
    import two._
    val rows = boundsOf(two, Side.Left)
    val row = times(two, l(10, 11))
    // the higher of 10 - 5 = 5 and 11 - 2 = 9, the lower of 10 + 5 = 15 and 11 + 9 = 20
    assert((rows.probeFrom(row), rows.probeTo(row)) == ((9, 15)))
  }

  test("a probe range with a bound at one end is open at the other") {
    import auctions._
    val rows = boundsOf(auctions, Side.Right)
    // both expires and time, as the probe column, bound one end only
    val row = times(auctions, r(5))
    assert((rows.probeFrom(row) == Long.MinValue) != (rows.probeTo(row) == Long.MaxValue))
  }

  test("setting a time or NULL replaces the previous value of the column") {
    val times = new RowTimes(2)
    times.set(0, 5)
    times.setNull(0)
    assert(times.isNull(0) && times.isNull(1))
    times.set(0, 6)
    assert(!times.isNull(0) && times(0) == 6)
  }

  // Times and constants at the ends of the range, against exact arithmetic.

  private val edges: Gen[Long] = Gen.oneOf(
    Gen.choose(-3L, 3L),
    Gen.choose(Long.MinValue, Long.MinValue + 3),
    Gen.choose(Long.MaxValue - 3, Long.MaxValue)
  )

  private def holds(later: Long, earlier: Long, slack: Long): Boolean =
    BigInt(later) >= BigInt(earlier) - slack

  test("near the limits of Long no match is missed and no row is evicted too early") {
    forAll(edges, edges, edges, edges, edges, minSuccessful(2000)) {
      (down, up, left, right, watermark) =>
        object edge extends TestJoin {
          private val a = column(TimeColumn(Side.Left, "a", watermarked = true, nullable = false))
          private val b = column(TimeColumn(Side.Right, "b", watermarked = true, nullable = false))
          on(Seq(TimeBound(a.index, b.index, down)), Seq(TimeBound(b.index, a.index, up)))
        }
        val (l, r) = (times(edge, edge.l(left)), times(edge, edge.r(right)))
        if (holds(left, right, down) && holds(right, left, up)) {
          assert(!edge.bounds.contradictory)
          val rows = boundsOf(edge, Side.Left)
          assert(rows.consistent(l))
          assert(rows.probeFrom(l) <= right && right <= rows.probeTo(l))
          // a right row that is not late keeps the left row
          if (right >= watermark) assert(survives(rows, l, Array(Unknown, watermark)))
          val others = boundsOf(edge, Side.Right)
          assert(others.probeFrom(r) <= left && left <= others.probeTo(r))
          if (left >= watermark) assert(survives(others, r, Array(watermark, Unknown)))
        }
    }
  }
}
