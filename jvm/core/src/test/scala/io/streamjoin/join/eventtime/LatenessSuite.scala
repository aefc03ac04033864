package io.streamjoin.join.eventtime

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.bounds.TimeColumn
import io.streamjoin.join.Count
import io.streamjoin.model.JoinType._
import io.streamjoin.model.Side
import io.streamjoin.testing.Timeline._
import io.streamjoin.testing.{Driver, TestJoin}

class LatenessSuite extends AnyFunSuite {

  private object near extends TestJoin {
    val lTime = left("l.time", nullable = true)
    val rTime = right("r.time", nullable = true)
    on(rTime.between(lTime - 5, lTime + 5))
  }

  /** A second event time on the left that the condition does not mention. */
  private object twoTimes extends TestJoin {
    val lTime = left("l.time")
    val seen = left("l.seen", nullable = true)
    val rTime = right("r.time")
    on(rTime.between(lTime - 5, lTime + 5))
  }

  test("a row strictly below the watermark is late, a row equal to it is not") {
    import near._
    trace(new Driver(near, Inner)) { t =>
      import t._
      in(wm(lTime, 10))
      in(l(10))
      leftBuffer(l(10))
      in(l(9))
      leftBuffer(l(10))
      lateRows(left = 1, right = 0)
    }
  }

  test("a late row of a preserved side is dropped without a pair or padding") {
    import near._
    trace(new Driver(near, FullOuter)) { t =>
      import t._
      in(r(8))
      in(wm(lTime, 10))
      in(l(9))
      lateRows(left = 1, right = 0)
      // the right side has a separate watermark: none yet
      in(r(0))
      out(unmatched(r(0)))
      lateRows(left = 1, right = 0)
      rightBuffer(r(8))
    }
  }

  test("a row is late by any watermarked column, also by one outside the condition") {
    import twoTimes._
    trace(new Driver(twoTimes, LeftOuter)) { t =>
      import t._
      in(wm(seen, 100))
      in(l(50, 99))
      lateRows(left = 1, right = 0)
      in(l(50, 100))
      leftBuffer(l(50, 100))
      // null is never late
      in(l(51, 0).without(seen))
      leftBuffer(l(50, 100), l(51, 0).without(seen))
      lateRows(left = 1, right = 0)
    }
  }

  test("a row that is late and out of bounds is dropped as late") {
    import near._
    trace(new Driver(near, LeftOuter)) { t =>
      import t._
      in(wm(rTime, 30))
      // 30 - 5 = 25: out of bounds, padded at once
      in(l(24))
      out(unmatched(l(24)))
      in(wm(lTime, 26))
      out(wm(lTime, 25), wm(rTime, 21))
      // below both: late, dropped
      in(l(24))
      lateRows(left = 1, right = 0)
    }
  }

  test("a row with NULL in a bounded time is not late, not buffered and padded at once") {
    import near._
    val driver = new Driver(near, LeftOuter)
    trace(driver) { t =>
      import t._
      in(wm(lTime, 10))
      in(l(0).without(lTime))
      out(unmatched(l(0).without(lTime)))
      leftBuffer()
      // the right side is not preserved
      in(r(0).without(rTime))
      rightBuffer()
      lateRows(left = 0, right = 0)
    }
    assert(Side.both.map(driver.counters.rows(_, Count.NullTime)) == Seq(1, 1))
    assert(driver.counters.rows(Count.NullPadded) == 1)
  }

  /** The left input is a join, which emits rows without a match with NULL for `l.padded`. */
  private object chained extends TestJoin {
    val lTime = left("l.time", nullable = true)
    val lPadded =
      column(TimeColumn(Side.Left, "l.padded", watermarked = true, nullable = true, padded = true))
    val rTime = right("r.time", nullable = true)
    on(rTime.between(lPadded, lPadded + 5), rTime >= lTime)
  }

  test("a time that a lower join padded with NULL is not counted as a NULL time") {
    import chained._
    val driver = new Driver(chained, LeftOuter)
    trace(driver) { t =>
      import t._
      in(l(0, 1).without(lPadded))
      out(unmatched(l(0, 1).without(lPadded)))
      leftBuffer()
    }
    assert(Side.both.map(driver.counters.rows(_, Count.NullTime)) == Seq(0, 0))
    trace(driver) { t =>
      import t._
      in(l(0, 1).without(lPadded).without(lTime))
      out(unmatched(l(0, 1).without(lPadded).without(lTime)))
      in(r(0).without(rTime))
    }
    assert(Side.both.map(driver.counters.rows(_, Count.NullTime)) == Seq(1, 1))
    assert(driver.counters.rows(Count.NullPadded) == 2)
  }

  test("a lower watermark has no effect") {
    import near._
    trace(new Driver(near, LeftOuter)) { t =>
      import t._
      in(l(20))
      in(wm(lTime, 20))
      in(wm(rTime, 20))
      out(wm(lTime, 15), wm(rTime, 15))
      in(wm(lTime, 3))
      in(wm(rTime, 3))
      // still late
      in(l(19))
      lateRows(left = 1, right = 0)
      leftBuffer(l(20))
      // a repeated watermark has no effect
      in(wm(rTime, 20))
    }
  }

  test("the join emits no watermark until both sides have one") {
    import near._
    trace(new Driver(near, Inner)) { t =>
      import t._
      in(wm(lTime, 10))
      in(wm(lTime, 20))
      in(wm(rTime, 30))
      // l: min(20, 30 - 5) = 20    r: min(30, 20 - 5) = 15
      out(wm(lTime, 20), wm(rTime, 15))
    }
  }

  test("empty buffers do not advance an output watermark") {
    import near._
    trace(new Driver(near, Inner)) { t =>
      import t._
      in(wm(lTime, 100))
      in(wm(rTime, 100))
      // 100 - 5 = 95, since an l{95} can still arrive and be emitted later, below a watermark of
      // 100
      out(wm(lTime, 95), wm(rTime, 95))
    }
  }
}
