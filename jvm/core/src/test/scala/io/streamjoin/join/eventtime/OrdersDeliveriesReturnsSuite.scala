package io.streamjoin.join.eventtime

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.JoinType
import io.streamjoin.testing.Timeline._
import io.streamjoin.testing.{Driver, FirstRuleDriver, TestJoin, Timeline}

/**
 * The example of the Hazelcast document, section "Implementation of multiple watermarks in the JOIN
 * processor": the upper of these two joins.
 *
 * {{{
 *   select *
 *   from orders o
 *   join deliveries d ON d.time BETWEEN o.time - 1 and o.time + 3
 *   join returns r ON r.time BETWEEN d.time - 1 AND d.time + 4
 * }}}
 */
class OrdersDeliveriesReturnsSuite extends AnyFunSuite {

  private abstract class Join2 extends TestJoin {
    val oTime = left("o.time")
    val dTime = left("d.time")
    val rTime = right("r.time")
    on(rTime.between(dTime - 1, dTime + 4))
  }

  /** Only what the document extracts: `r >= d - 1`, `d >= r - 4`. */
  private object bare extends Join2

  /** With the facts that join1 enforces: `d >= o - 1`, `o >= d - 3`. */
  private object informed extends Join2 {
    known(dTime >= oTime - 1, oTime >= dTime - 3)
  }

  test("the trace of the document, with its first rule: min(received, least buffered time)") {
    import bare._
    trace(new FirstRuleDriver(bare, JoinType.Inner)) { t =>
      import t._
      // initial wm state: 0:{}, 1:{2:-inf}, 2:{1:-inf}
      wmState(oTime -> unknown, dTime -> unknown, rTime -> unknown)
      in(l(102, 101))
      leftBuffer(l(102, 101))
      in(l(102, 103))
      leftBuffer(l(102, 101), l(102, 103))
      in(wm(oTime, 103))
      wmState(oTime -> unknown, dTime -> unknown, rTime -> unknown)
      // min(103, least o in the buffer) = min(103, 102) = 102
      out(wm(oTime, 102))
      in(r(100))
      // 100 is in [101 - 1, 101 + 4], but not in [103 - 1, 103 + 4]
      out(joined(l(102, 101), r(100)))
      rightBuffer(r(100))
      in(wm(dTime, 102))
      // 102 - 1 = 101: evicts rows with r.time < 101
      wmState(oTime -> unknown, dTime -> unknown, rTime -> Some(101))
      rightBuffer()
      leftBuffer(l(102, 101), l(102, 103))
      // min(102, least d in the buffer) = min(102, 101) = 101
      out(wm(dTime, 101))
      in(wm(rTime, 110))
      // 110 - 4 = 106: evicts rows with d.time < 106
      wmState(oTime -> unknown, dTime -> Some(106), rTime -> Some(101))
      leftBuffer()
      rightBuffer()
      // the buffers are empty: the received watermarks
      out(wm(oTime, 103), wm(dTime, 102), wm(rTime, 110))
    }
  }

  test("the trace with our rule, min(received, wmState), and the bounds of join2 alone") {
    import bare._
    trace(new Driver(bare, JoinType.Inner)) { t =>
      import t._
      in(l(102, 101))
      in(l(102, 103))
      leftBuffer(l(102, 101), l(102, 103))
      // no bound mentions o.time, so the join never emits its watermark
      in(wm(oTime, 103))
      in(r(100))
      out(joined(l(102, 101), r(100)))
      rightBuffer(r(100))
      // min(102, -inf): nothing yet for d.time; r.time has a bound but no watermark
      in(wm(dTime, 102))
      wmState(oTime -> unknown, dTime -> unknown, rTime -> Some(101))
      rightBuffer()
      in(wm(rTime, 110))
      wmState(oTime -> unknown, dTime -> Some(106), rTime -> Some(101))
      leftBuffer()
      rightBuffer()
      // d: min(102, 110 - 4) = 102    r: min(110, 102 - 1) = 101
      // the first rule gives 110: true of the buffered rows, but not of future ones
      out(wm(dTime, 102), wm(rTime, 101))
    }
  }

  test("the trace with our rule and the facts of join1: the join emits the watermark of o") {
    import informed._
    trace(new Driver(informed, JoinType.Inner)) { t =>
      import t._
      in(l(102, 101))
      in(l(102, 103))
      in(wm(oTime, 103))
      // r >= d - 1 >= o - 2: 103 - 2 = 101, although d has no watermark yet
      wmState(oTime -> unknown, dTime -> unknown, rTime -> Some(101))
      in(r(100))
      out(joined(l(102, 101), r(100)))
      // 100 < 101: already out of bounds, so joined but not buffered
      rightBuffer()
      in(wm(dTime, 102))
      // the higher of 102 - 1 = 101 and 103 - 2 = 101
      wmState(oTime -> unknown, dTime -> unknown, rTime -> Some(101))
      leftBuffer(l(102, 101), l(102, 103))
      in(wm(rTime, 110))
      // d >= r - 4: 110 - 4 = 106    o >= d - 3 >= r - 7: 110 - 7 = 103
      wmState(oTime -> Some(103), dTime -> Some(106), rTime -> Some(101))
      leftBuffer()
      // o: min(103, 103) = 103    d: min(102, 106) = 102    r: min(110, 101) = 101
      out(wm(oTime, 103), wm(dTime, 102), wm(rTime, 101))
    }
  }

  for (join <- Seq(bare, informed)) {
    val name = if (join == bare) "the bounds of join2 alone" else "the facts of join1"

    import join._

    def atTheEnd(steps: Timeline => Unit): Unit = {
      val driver = new Driver(join, JoinType.Inner)
      val events =
        Seq(l(102, 101), l(102, 103), wm(oTime, 103), r(99), r(100), wm(dTime, 102), wm(rTime, 110))
      events.foreach(driver.send)
      trace(driver)(steps)
    }

    test(s"no evicted row matches a future row, with $name") {
      atTheEnd { t =>
        import t._
        // the lowest future left row: equal to the watermark, so not late
        in(l(103, 102))
        // it matches neither r{99} nor r{100}: 102 - 1 = 101
        assert(!matches(l(103, 102), r(99)))
        assert(!matches(l(103, 102), r(100)))
        // 102 < 106: no future row matches it
        leftBuffer()
        // the lowest future right row
        in(r(110))
        // it matches neither l{102, 101} nor l{102, 103}: 103 + 4 = 107
        assert(!matches(l(102, 101), r(110)))
        assert(!matches(l(102, 103), r(110)))
        rightBuffer(r(110))
        lateRows(left = 0, right = 0)
      }
    }

    test(s"each buffered row can match a future row, with $name") {
      atTheEnd { t =>
        import t._
        // the lowest rows that are not evicted are l{d.time=106} and r{101}
        val lowest = l(103, 106)
        in(lowest)
        leftBuffer(lowest)
        in(l(103, 105))
        leftBuffer(lowest)
        // each matches the lowest future row of the other side:
        // 101 is in [102 - 1, 102 + 4], and 110 in [106 - 1, 106 + 4]
        assert(matches(l(103, 102), r(101)))
        assert(matches(lowest, r(110)))
        // one less does not match
        assert(!matches(l(103, 102), r(100)))
        assert(!matches(l(103, 105), r(110)))
        // r{106} does not join l{103, 102}, as the document says. The condition holds, since 106
        // is in [102 - 1, 102 + 4], but r{106} is late: 106 < 110
        in(r(106))
        lateRows(left = 0, right = 1)
      }
    }
  }
}
