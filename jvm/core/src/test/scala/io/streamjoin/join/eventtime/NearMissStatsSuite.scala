package io.streamjoin.join.eventtime

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.{Count, Counters}
import io.streamjoin.model.Watermarks.Unknown
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.{Emitted, HeapJoinState, TestJoin, TestRow}

/** Statistics that explain a join without output, and the disorder of its rows. */
class NearMissStatsSuite extends AnyFunSuite {

  private object within extends TestJoin {
    val o = left("o.time")
    val d = right("d.time")
    on(d.between(o, o + 10))
  }

  import within._

  private class Fixture(joinType: JoinType = JoinType.Inner) {
    val state = new HeapJoinState[TestRow](identity)
    val counters = new Counters
    val operator =
      new EventTimeJoin[TestRow, Emitted](
        joinType,
        bounds,
        rows,
        output,
        state,
        JoinStats(counters)
      )

    /** Ends a batch without a change of the watermarks. */
    def end(): Unit = assert(operator.advance(operator.received).isEmpty)

    def arrive(side: Side, row: TestRow): Seq[Emitted] = operator.process(side, row).toSeq
  }

  test("rows with different keys count as examined without a key match") {
    new Fixture {
      arrive(Side.Left, l(5).key(7))
      arrive(Side.Right, r(6).key(8))
      assert(counters.rows(Count.LookedInto) == 0)
      end()
      val counted = Seq(Count.LookedInto, Count.KeyMet, Count.Joined).map(counters.rows(_))
      assert(counted == Seq(2, 0, 0))
      assert(counters.closestTooLate.isEmpty && counters.closestTooEarly.isEmpty)
    }
  }

  test("the closest miss is recorded separately for too late and too early pairs") {
    new Fixture {
      arrive(Side.Left, l(5).key(7))
      arrive(Side.Right, r(18).key(7))
      arrive(Side.Right, r(40).key(7))
      arrive(Side.Right, r(1).key(7))
      end()
      assert(counters.rows(Count.KeyMet) == 4)
      assert(counters.closestTooLate.contains(3L))
      assert(counters.closestTooEarly.contains(4L))
    }
  }

  test("a row that was not buffered is compared within its batch") {
    new Fixture {
      val endOfBatch = Array(Unknown, 100L)
      assert(operator.process(Side.Left, l(5).key(7), endOfBatch).isEmpty)
      assert(state.size(Side.Left) == 0)
      arrive(Side.Right, r(105).key(7))
      end()
      assert(counters.rows(Count.KeyMet) == 2)
      assert(counters.closestTooLate.contains(90L))
    }
  }

  test("a pair within its bounds that fails the condition is not a near miss") {
    new Fixture {
      arrive(Side.Left, l(5).key(7))
      arrive(Side.Right, r(6).key(7).unjoinable)
      end()
      assert(counters.rows(Count.LookedInto) == 1)
      arrive(Side.Right, r(20).key(7))
      end()
      assert(counters.closestTooLate.contains(5L))
    }
  }

  test("the key of a row of an earlier batch is met while the row is buffered") {
    new Fixture {
      arrive(Side.Left, l(5).key(7))
      end()
      assert(counters.rows(Count.KeyMet) == 0)
      arrive(Side.Right, r(20).key(7))
      end()
      assert(counters.rows(Count.KeyMet) == 1)
      assert(operator.advance(Array(Unknown, 100L)).isEmpty && state.size(Side.Left) == 0)
      arrive(Side.Right, r(120).key(7))
      end()
      assert(counters.rows(Count.KeyMet) == 1)
    }
  }

  test("a batch with a joined pair is not examined") {
    new Fixture {
      for (i <- 1 to 10) arrive(Side.Left, l(5).key(10L + i))
      arrive(Side.Right, r(6).key(11))
      arrive(Side.Right, r(60).key(12))
      end()
      assert((counters.rows(Count.Joined), counters.rows(Count.LookedInto)) == ((1, 0)))
    }
  }

  test("only the first rows of an input are examined, up to the limit") {
    new Fixture {
      for (i <- 1 to 3 * NearMissStats.Limit) arrive(Side.Left, l(5).key(10L + i))
      end()
      assert(counters.rows(Count.LookedInto) == NearMissStats.Limit)
      assert(counters.rows(Side.Left, Count.Input) == 3 * NearMissStats.Limit)
    }
  }

  test("a semi join counts a row with two partners as one joined row") {
    new Fixture(JoinType.LeftSemi) {
      arrive(Side.Right, r(6).key(7))
      arrive(Side.Right, r(7).key(7))
      assert(arrive(Side.Left, l(5).key(7)).length == 1)
      assert(counters.rows(Count.Joined) == 1)
    }
  }

  test("furthestBehind records the largest distance behind the watermark, also of late rows") {
    new Fixture {
      operator.restore(Array(10L, Unknown))
      assert(operator.disorder.furthestBehind.toSeq == Seq(Unknown, Unknown))
      arrive(Side.Left, l(12).key(7))
      arrive(Side.Right, r(1).key(7))
      assert(operator.disorder.furthestBehind.toSeq == Seq(-2L, Unknown))
      arrive(Side.Left, l(4).key(7))
      assert(operator.disorder.furthestBehind.toSeq == Seq(6L, Unknown))
      assert(counters.rows(Side.Left, Count.Late) == 1)
    }
  }
}
