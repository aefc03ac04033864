package io.streamjoin.join.eventtime

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.JoinType._
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.Timeline._
import io.streamjoin.testing.{Driver, TestJoin}

class JoinTypesSuite extends AnyFunSuite {

  /** `r BETWEEN l - 2 AND l + 2` */
  private object near extends TestJoin {
    val lTime = left("l.time")
    val rTime = right("r.time")
    on(rTime.between(lTime - 2, lTime + 2))
  }

  import near._

  test("INNER: emits pairs at once and never emits unmatched rows") {
    trace(new Driver(near, Inner)) { t =>
      import t._
      in(l(10))
      in(r(20))
      in(r(11))
      out(joined(l(10), r(11)))
      // 30 - 2 = 28
      in(wm(lTime, 30))
      rightBuffer()
      in(wm(rTime, 30))
      leftBuffer()
      out(wm(lTime, 28), wm(rTime, 28))
    }
  }

  test("LEFT OUTER: pads an unmatched left row at eviction, before the watermarks") {
    trace(new Driver(near, LeftOuter)) { t =>
      import t._
      in(l(10))
      in(l(11))
      in(r(13))
      out(joined(l(11), r(13)))
      in(wm(lTime, 13))
      // 13 - 2 = 11: both can still match 11 or more
      in(wm(rTime, 12))
      // l: min(13, 12 - 2) = 10    r: min(12, 13 - 2) = 11
      out(wm(lTime, 10), wm(rTime, 11))
      leftBuffer(l(10), l(11))
      // 13 - 2 = 11: 10 is evicted, 11 stays
      in(wm(rTime, 13))
      out(unmatched(l(10)), wm(lTime, 11))
      leftBuffer(l(11))
      // 11 is also evicted; it has been joined
      in(wm(rTime, 14))
      out(wm(lTime, 12))
      leftBuffer()
      // the right row is evicted without output
      in(wm(lTime, 16))
      out(wm(rTime, 14))
      rightBuffer()
    }
  }

  test("RIGHT OUTER: pads an unmatched right row at eviction") {
    trace(new Driver(near, RightOuter)) { t =>
      import t._
      in(r(10))
      in(r(11))
      in(l(13))
      out(joined(l(13), r(11)))
      in(wm(lTime, 13))
      // 10 < 13 - 2
      out(unmatched(r(10)))
      rightBuffer(r(11))
      in(wm(rTime, 16))
      out(wm(lTime, 13), wm(rTime, 11))
      leftBuffer()
    }
  }

  test("FULL OUTER: pads unmatched rows of both sides at eviction") {
    trace(new Driver(near, FullOuter)) { t =>
      import t._
      in(l(10))
      in(r(20))
      in(r(30))
      in(wm(rTime, 13))
      out(unmatched(l(10)))
      in(wm(lTime, 23))
      // l: min(23, 13 - 2) = 11    r: min(13, 23 - 2) = 13
      out(unmatched(r(20)), wm(lTime, 11), wm(rTime, 13))
      in(l(31))
      out(joined(l(31), r(30)))
    }
  }

  test("LEFT SEMI: emits a left row once, at its first match, and does not buffer it") {
    trace(new Driver(near, LeftSemi)) { t =>
      import t._
      in(r(10))
      in(r(11))
      // two matches, one row
      in(l(10))
      out(matched(l(10)))
      leftBuffer()
      in(l(13))
      out(matched(l(13)))
      in(l(20))
      leftBuffer(l(20))
      in(r(19))
      out(matched(l(20)))
      leftBuffer()
      in(r(20))
      // a right row matches any number of left rows
      rightBuffer(r(10), r(11), r(19), r(20))
      in(l(50))
      in(wm(rTime, 60))
      leftBuffer()
    }
  }

  test("LEFT SEMI: one right row emits all buffered left rows that it matches") {
    trace(new Driver(near, LeftSemi)) { t =>
      import t._
      in(l(9))
      in(l(10))
      in(l(14))
      in(r(11))
      out(matched(l(9)), matched(l(10)))
      leftBuffer(l(14))
      in(wm(lTime, 20))
      rightBuffer()
      // out of bounds, but it matches a buffered row
      in(r(12))
      out(matched(l(14)))
      leftBuffer()
      rightBuffer()
    }
  }

  test("LEFT ANTI: drops a left row at its first match, and emits it if evicted unmatched") {
    trace(new Driver(near, LeftAnti)) { t =>
      import t._
      in(r(10))
      // matched on arrival
      in(l(10))
      leftBuffer()
      in(l(20))
      in(l(25))
      leftBuffer(l(20), l(25))
      // matched while buffered
      in(r(21))
      leftBuffer(l(25))
      // 28 - 2 = 26
      in(wm(rTime, 28))
      out(unmatched(l(25)))
      leftBuffer()
      // matches no future row and no buffered row
      in(l(24))
      out(unmatched(l(24)))
      // matches no future row, but the buffered r{21}
      in(l(22))
      leftBuffer()
    }
  }

  test("equal rows are joined and padded separately") {
    trace(new Driver(near, FullOuter)) { t =>
      import t._
      in(l(10))
      in(l(10))
      leftBuffer(l(10), l(10))
      in(r(10))
      out(joined(l(10), r(10)), joined(l(10), r(10)))
      in(r(10))
      out(joined(l(10), r(10)), joined(l(10), r(10)))
      in(r(20))
      in(r(20))
      in(wm(lTime, 23))
      out(unmatched(r(20)), unmatched(r(20)))
    }
  }

  test("a row joins only rows of its key") {
    trace(new Driver(near, Inner)) { t =>
      import t._
      in(l(10).key(1))
      in(r(10).key(2))
      in(r(10).key(1))
      out(joined(l(10).key(1), r(10).key(1)))
    }
  }

  for (joinType <- JoinType.all) {
    test(s"${joinType.name}: a row with a NULL key matches nothing and is not buffered") {
      trace(new Driver(near, joinType)) { t =>
        import t._
        in(l(10).nullKey)
        if (joinType.preserves(Side.Left)) out(unmatched(l(10).nullKey))
        leftBuffer()
        in(r(10).nullKey)
        if (joinType.preserves(Side.Right)) out(unmatched(r(10).nullKey))
        rightBuffer()
      }
    }

    test(s"${joinType.name}: a row that fails a one-sided condition is not buffered") {
      trace(new Driver(near, joinType)) { t =>
        import t._
        in(r(10))
        in(l(10).unjoinable)
        if (joinType.preserves(Side.Left)) out(unmatched(l(10).unjoinable))
        leftBuffer()
        in(r(11).unjoinable)
        if (joinType.preserves(Side.Right)) out(unmatched(r(11).unjoinable))
        rightBuffer(r(10))
      }
    }

    test(s"${joinType.name}: with contradictory bounds nothing matches or is buffered") {
      // r.time > l.time AND r.time < l.time
      object never extends TestJoin {
        val lTime = left("l.time")
        val rTime = right("r.time")
        on(rTime >= lTime + 1, rTime <= lTime - 1)
      }
      trace(new Driver(never, joinType)) { t =>
        import t._
        in(never.l(10))
        if (joinType.preserves(Side.Left)) out(unmatched(never.l(10)))
        in(never.r(10))
        if (joinType.preserves(Side.Right)) out(unmatched(never.r(10)))
        leftBuffer()
        rightBuffer()
      }
    }

    test(s"${joinType.name}: with contradictory bounds within one input nothing matches") {
      object never extends TestJoin {
        val a = left("a")
        val x = left("x")
        val rTime = right("r.time")
        on(a >= x + 1, x >= a)
      }
      trace(new Driver(never, joinType)) { t =>
        import t._
        in(never.l(10, 10))
        if (joinType.preserves(Side.Left)) out(unmatched(never.l(10, 10)))
        in(never.r(10))
        if (joinType.preserves(Side.Right)) out(unmatched(never.r(10)))
        leftBuffer()
        rightBuffer()
      }
    }
  }

  test("auctions and bids: each auction is evicted by its own end") {
    // bid.time BETWEEN auction.time AND auction.expires
    object auctions extends TestJoin {
      val time = left("auction.time")
      val expires = left("auction.expires", watermarked = false, nullable = true)
      val bid = right("bid.time")
      on(bid.between(time, expires + 0))
    }
    trace(new Driver(auctions, LeftOuter)) { t =>
      import t._
      import auctions.{bid, expires, time}
      def auction(from: Long, to: Long) = auctions.l(from, to)
      in(auction(10, 100))
      in(auction(11, 20))
      in(wm(bid, 21))
      // 20 < 21
      out(unmatched(auction(11, 20)))
      leftBuffer(auction(10, 100))
      in(auctions.r(100))
      out(joined(auction(10, 100), auctions.r(100)))
      // no end: no bid can match
      in(auction(12, 0).without(expires))
      out(unmatched(auction(12, 0).without(expires)))
      // over before it begins: bid >= time and expires >= bid
      in(auction(30, 29))
      out(unmatched(auction(30, 29)))
      // over before the bids that may still come
      in(auction(15, 20))
      out(unmatched(auction(15, 20)))
      in(wm(time, 101))
      // time: no bound limits the length of an auction, so the join emits no watermark for it
      rightBuffer()
      out(wm(bid, 21))
    }
  }
}
