package io.streamjoin.join.eventtime

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.Timeline._
import io.streamjoin.testing.{Driver, TestJoin}

/**
 * Tables 2 to 4 of the first draft of the Hazelcast document. The draft cleared a buffer at each
 * watermark of its own input; the final design, and this one, keep a row as long as it can match.
 */
class DraftTablesSuite extends AnyFunSuite {

  private class Within(units: Long) extends TestJoin {
    val s1 = left("s1_time")
    val s2 = right("s2_time")
    on(s2.between(s1, s1 + units))
  }

  /** Table 4 names no bounds. These bounds give exactly its joined rows. */
  private object withinOne extends Within(1)

  /** The bounds of the query in the draft's text. */
  private object withinTwo extends Within(2)

  test("tables 3 and 4, FULL OUTER, s2 BETWEEN s1 AND s1 + 1") {
    import withinOne._
    trace(new Driver(withinOne, JoinType.FullOuter)) { t =>
      import t._
      in(l(1))
      in(r(1))
      out(joined(l(1), r(1)))
      // The table emits s1_wm(2) and s2_wm(2) unchanged. Here the join emits a watermark when both
      // sides have one, and not above rows that can still be buffered.
      in(wm(s1, 2))
      in(wm(s2, 2))
      // s1: min(2, 2 - 1) = 1    s2: min(2, 2 - 0) = 2
      out(wm(s1, 1), wm(s2, 2))
      // s1 >= s2 - 1: 2 - 1 = 1, so s1(1) can still match an s2(2)
      leftBuffer(l(1))
      rightBuffer()
      in(l(3))
      in(r(3))
      // not with s1(1): 1 + 1 = 2
      out(joined(l(3), r(3)))
      in(wm(s1, 4))
      // s2 >= s1: s2(3) is evicted; it was joined
      rightBuffer()
      in(wm(s2, 4))
      // s1: min(4, 4 - 1) = 3    s2: min(4, 4) = 4; s1(1) is evicted; it was joined
      out(wm(s1, 3), wm(s2, 4))
      leftBuffer(l(3))
      // The table has the second column's rows after both wm(4). s2(4) is not late: 4 = 4.
      in(r(4))
      out(joined(l(3), r(4)))
      in(wm(s2, 6))
      // s1: min(4, 6 - 1) = 4; s2: min(6, 4) = 4 as before, where the table has s2_wm(6): an
      // s1(4) can still arrive and match the buffered s2(4)
      out(wm(s1, 4))
      leftBuffer()
      in(r(7))
      // The table pads s2(7) at s2_wm(8). But the watermark of s1 is 4, so s2(7) can still
      // match an s1(6) or an s1(7). It stays buffered.
      in(wm(s2, 8))
      rightBuffer(r(4), r(7))
      // S1 ends in table 3. When its watermark exceeds 7, s2(7) is emitted, before the watermark.
      in(wm(s1, 8))
      // s1: min(8, 8 - 1) = 7    s2: min(8, 8) = 8
      out(unmatched(r(7)), wm(s1, 7), wm(s2, 8))
      rightBuffer()
    }
  }

  test("tables 3 and 4 with the bounds of the draft's query also join s1(1) with s2(3)") {
    import withinTwo._
    trace(new Driver(withinTwo, JoinType.FullOuter)) { t =>
      import t._
      in(l(1))
      in(r(1))
      out(joined(l(1), r(1)))
      in(wm(s1, 2))
      in(wm(s2, 2))
      // s1: min(2, 2 - 2) = 0    s2: min(2, 2) = 2
      out(wm(s1, 0), wm(s2, 2))
      in(l(3))
      in(r(3))
      // 3 <= 1 + 2. The draft would have lost this pair: it cleared B0 at s1_wm(2).
      out(joined(l(1), r(3)), joined(l(3), r(3)))
      in(wm(s1, 4))
      in(wm(s2, 4))
      out(wm(s1, 2), wm(s2, 4))
      in(r(4))
      out(joined(l(3), r(4)))
    }
  }

  test("table 2: an input without a watermark leaves the other side unbounded") {
    class SomeWatermarked(first: Boolean, second: Boolean) extends TestJoin {
      val s1 = left("s1_time", watermarked = first)
      val s2 = right("s2_time", watermarked = second)
      on(s2.between(s1, s1 + 2))
    }
    def bounded(first: Boolean, second: Boolean) =
      Side.both.map(new SomeWatermarked(first, second).bounds.bounded)
    // the watermark of each side evicts rows of the other
    assert(bounded(first = false, second = false) == Seq(false, false))
    assert(bounded(first = true, second = false) == Seq(false, true))
    assert(bounded(first = false, second = true) == Seq(true, false))
    assert(bounded(first = true, second = true) == Seq(true, true))
  }

  test("table 2: a row equal to the watermark is not late, so zero lag has a result") {
    import withinOne._
    trace(new Driver(withinOne, JoinType.Inner)) { t =>
      import t._
      in(l(1))
      in(wm(s1, 1))
      in(r(1))
      out(joined(l(1), r(1)))
      in(wm(s2, 1))
      // s1: min(1, 1 - 1) = 0    s2: min(1, 1) = 1
      out(wm(s1, 0), wm(s2, 1))
      in(r(2))
      out(joined(l(1), r(2)))
      in(wm(s2, 2))
      out(wm(s1, 1))
      in(l(1))
      out(joined(l(1), r(1)), joined(l(1), r(2)))
      lateRows(left = 0, right = 0)
    }
  }
}
