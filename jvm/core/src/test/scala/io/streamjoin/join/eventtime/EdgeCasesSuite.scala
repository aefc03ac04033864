package io.streamjoin.join.eventtime

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.JoinType
import io.streamjoin.testing.Timeline._
import io.streamjoin.testing.{Driver, FirstRuleDriver, TestJoin}

/** The smaller examples of the Hazelcast document. */
class EdgeCasesSuite extends AnyFunSuite {

  private object sameTime extends TestJoin {
    val lTime = left("l.time")
    val rTime = right("r.time")
    on(lTime === rTime)
  }

  private object twoInputs extends TestJoin {
    val i1 = left("i1.time")
    val i2 = right("i2.time")
    on(i2.between(i1 - 1, i1 + 4))
  }

  import sameTime._

  test("simple case: i2.time BETWEEN i1.time - 1 AND i1.time + 4 gives the two extracted bounds") {
    import twoInputs.{bounds, i1, i2}
    // i1.time >= i2.time - 4
    assert(bounds.slack(i1.index, i2.index) == 4)
    // i2.time >= i1.time - 1
    assert(bounds.slack(i2.index, i1.index) == 1)
  }

  test("simple case: wm(i2)=10 evicts i1 rows up to 5 and emits wm(i1)=6") {
    import twoInputs.{i1, i2, l, r}
    trace(new Driver(twoInputs, JoinType.Inner)) { t =>
      import t._
      in(l(4))
      in(l(5))
      in(l(6))
      in(wm(i1, 9))
      in(wm(i2, 10))
      // 5 >= 10 - 4 is false, 6 >= 10 - 4 is true
      leftBuffer(l(6))
      // i1: min(9, 10 - 4) = 6    i2: min(10, 9 - 1) = 8
      out(wm(i1, 6), wm(i2, 8))
      in(r(10))
      out(joined(l(6), r(10)))
    }
  }

  test("simple case: wm(i1)=10 evicts i2 rows below 9 by the second condition") {
    import twoInputs.{i1, r}
    trace(new Driver(twoInputs, JoinType.Inner)) { t =>
      import t._
      in(r(8))
      in(r(9))
      // 10 - 1 = 9
      in(wm(i1, 10))
      rightBuffer(r(9))
    }
  }

  test(
    "example 1: a row out of bounds but not late is joined but not buffered"
  ) {
    trace(new Driver(sameTime, JoinType.Inner)) { t =>
      import t._
      in(l(0))
      leftBuffer(l(0))
      leftUsed()
      in(r(0))
      out(joined(l(0), r(0)))
      leftBuffer(l(0))
      rightBuffer(r(0))
      in(wm(lTime, 1))
      rightBuffer()
      in(r(0))
      out(joined(l(0), r(0)))
      rightBuffer()
      lateRows(left = 0, right = 0)
    }
  }

  test("example 1: a full outer join marks joined rows and does not pad them") {
    trace(new Driver(sameTime, JoinType.FullOuter)) { t =>
      import t._
      in(l(0))
      leftUsed()
      in(r(0))
      out(joined(l(0), r(0)))
      leftUsed(l(0))
      rightUsed(r(0))
      // evicted after a match: nothing is padded
      in(wm(lTime, 1))
      rightBuffer()
      in(r(0))
      out(joined(l(0), r(0)))
      rightBuffer()
      in(wm(rTime, 1))
      leftBuffer()
      out(wm(lTime, 1), wm(rTime, 1))
    }
  }

  test("example 2, the document's first rule: wm(0) is emitted while l{0} is buffered") {
    trace(new FirstRuleDriver(sameTime, JoinType.Inner)) { t =>
      import t._
      in(l(0))
      leftBuffer(l(0))
      in(wm(lTime, 1))
      // min(1, least l in the buffer) = min(1, 0) = 0
      out(wm(lTime, 0))
      in(r(0))
      out(joined(l(0), r(0)))
      rightBuffer()
    }
  }

  test("example 2, our rule: no watermark is emitted until both sides have one") {
    trace(new Driver(sameTime, JoinType.Inner)) { t =>
      import t._
      in(l(0))
      in(wm(lTime, 1))
      in(r(0))
      out(joined(l(0), r(0)))
      rightBuffer()
      in(wm(rTime, 1))
      leftBuffer()
      out(wm(lTime, 1), wm(rTime, 1))
    }
  }

  for (joinType <- Seq(JoinType.RightOuter, JoinType.FullOuter)) {
    test(s"example 2, ${joinType.name}: an unmatched row out of bounds is padded at once") {
      trace(new Driver(sameTime, joinType)) { t =>
        import t._
        in(l(0))
        in(wm(lTime, 2))
        // 1 < 2 and no l{1} is buffered
        in(r(1))
        out(unmatched(r(1)))
        rightBuffer()
        // 0 < 2 too, but l{0} is buffered
        in(r(0))
        out(joined(l(0), r(0)))
        // equal to the bound: can still match
        in(r(2))
        rightBuffer(r(2))
      }
    }
  }

  test("restart: the document's trace up to the snapshot, with its first rule") {
    trace(new FirstRuleDriver(sameTime, JoinType.LeftOuter)) { t =>
      import t._
      in(l(10).named("1"))
      in(r(10).named("1"))
      out(joined(l(10).named("1"), r(10).named("1")))
      in(wm(lTime, 15))
      out(wm(lTime, 10))
      rightBuffer()
    }
  }

  test("restart: a row that was late before the restart is late after it") {
    trace(new Driver(sameTime, JoinType.LeftOuter)) { t =>
      import t._
      in(l(10).named("1"))
      in(r(10).named("1"))
      out(joined(l(10).named("1"), r(10).named("1")))
      in(wm(lTime, 15))
      // l.time = r.time: 10 < 15, row r1 is evicted
      rightBuffer()
      restart()
      leftBuffer(l(10).named("1"))
      leftUsed(l(10).named("1"))
      // dropped, since the received watermark was restored: 10 < 15. Otherwise joined(l2, null)
      // would be emitted later, and the user would see both l2 and r1, but not joined.
      in(l(10).named("2"))
      lateRows(left = 1, right = 0)
      leftBuffer(l(10).named("1"))
      // l1 is also evicted; it was joined before the restart, so nothing is padded
      in(wm(rTime, 15))
      leftBuffer()
      out(wm(lTime, 15), wm(rTime, 15))
    }
  }

  test("restart: output watermarks do not fall and are not repeated") {
    trace(new Driver(sameTime, JoinType.LeftOuter)) { t =>
      import t._
      in(wm(lTime, 15))
      in(wm(rTime, 12))
      // l: min(15, 12)    r: min(12, 15)
      out(wm(lTime, 12), wm(rTime, 12))
      restart()
      // after the restart, source watermarks can be lower for a while
      in(wm(lTime, 5))
      in(wm(rTime, 5))
      in(wm(rTime, 12))
      in(l(14))
      lateRows(left = 1, right = 0)
      in(wm(rTime, 13))
      // l: min(15, 13) = 13    r: min(13, 15) = 13
      out(wm(lTime, 13), wm(rTime, 13))
    }
  }

  test("a row that fails a one-sided condition is not buffered, and padded at once if preserved") {
    // FROM l LEFT JOIN r ON l.field > 10 AND l.time BETWEEN r.time - 1 AND r.time + 1
    object band extends TestJoin {
      val lTime = left("l.time")
      val rTime = right("r.time")
      on(lTime.between(rTime - 1, rTime + 1))
    }
    trace(new Driver(band, JoinType.LeftOuter)) { t =>
      import t._
      import band.{l, r}
      in(r(5))
      // l.field = 9
      in(l(5).unjoinable)
      out(unmatched(l(5).unjoinable))
      leftBuffer()
      // l.field = 11
      in(l(5))
      out(joined(l(5), r(5)))
      leftBuffer(l(5))
    }
  }

  test("a bound between two times of one input filters its rows and evicts nothing") {
    // ON l.time1 >= l.time2 + 10 AND l.time1 = r.time: a watermark of l.time2 does not limit the
    // buffered left rows
    object twoTimes extends TestJoin {
      val time1 = left("l.time1")
      val time2 = left("l.time2")
      val rTime = right("r.time")
      on(time1 >= time2 + 10, time1 === rTime)
    }
    trace(new Driver(twoTimes, JoinType.LeftOuter)) { t =>
      import t._
      import twoTimes.{l, r, time2}
      in(l(15, 5))
      leftBuffer(l(15, 5))
      // 14 >= 5 + 10 is false: no right row can match
      in(l(14, 5))
      out(unmatched(l(14, 5)))
      in(r(18))
      in(r(15))
      out(joined(l(15, 5), r(15)))
      in(wm(time2, 8))
      leftBuffer(l(15, 5))
      // it limits the right rows: r.time = l.time1 >= l.time2 + 10 >= 18
      rightBuffer(r(18))
    }
  }
}
