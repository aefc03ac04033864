package io.streamjoin.join.eventtime

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Watermarks.Unknown
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.{Emitted, HeapJoinState, TestJoin, TestRow}

/** What a join that joins nothing can tell of the reason, and how far rows were behind. */
class MissesSuite extends AnyFunSuite {

  private object within extends TestJoin {
    val o = left("o.time")
    val d = right("d.time")
    on(d.between(o, o + 10))
  }

  import within._

  private class Fixture(joinType: JoinType = JoinType.Inner) {
    val state = new HeapJoinState[TestRow](identity)
    val counters = new JoinCounters
    val operator =
      new EventTimeJoin[TestRow, Emitted](joinType, bounds, rows, output, state, counters)

    def arrive(side: Side, row: TestRow): Seq[Emitted] = operator.process(side, row).toSeq
  }

  test("rows of other keys meet no key") {
    new Fixture {
      arrive(Side.Left, l(5).key(7))
      arrive(Side.Right, r(6).key(8))
      assert((counters.lookedIntoRows, counters.keyMetRows, counters.joinedRows) == ((2, 0, 0)))
      assert(counters.closestTooLate.isEmpty && counters.closestTooEarly.isEmpty)
    }
  }

  test("the closest miss, and on which side of its bounds") {
    new Fixture {
      arrive(Side.Left, l(5).key(7))
      arrive(Side.Right, r(18).key(7))
      arrive(Side.Right, r(40).key(7))
      arrive(Side.Right, r(1).key(7))
      assert(counters.keyMetRows == 3)
      assert(counters.closestTooLate.contains(3L))
      assert(counters.closestTooEarly.contains(4L))
    }
  }

  test("a row that was not kept is still met in its batch") {
    new Fixture {
      val endOfBatch = Array(Unknown, 100L)
      assert(operator.process(Side.Left, l(5).key(7), endOfBatch).isEmpty)
      assert(state.size(Side.Left) == 0)
      arrive(Side.Right, r(105).key(7))
      assert(counters.keyMetRows == 1)
      assert(counters.closestTooLate.contains(90L))
    }
  }

  test("a pair whose times fit and whose condition does not hold misses by nothing") {
    new Fixture {
      arrive(Side.Left, l(5).key(7))
      arrive(Side.Right, r(6).key(7).unjoinable)
      assert(counters.lookedIntoRows == 1)
      arrive(Side.Right, r(20).key(7))
      assert(counters.closestTooLate.contains(5L))
    }
  }

  test("nothing is looked into once a pair was joined, and of many rows only the first") {
    new Fixture {
      for (i <- 1 to 3 * Misses.Limit) arrive(Side.Left, l(5).key(10 + i))
      assert(counters.lookedIntoRows == Misses.Limit)
      arrive(Side.Right, r(6).key(11))
      assert(counters.joinedRows == 1)
      arrive(Side.Right, r(60).key(12))
      assert(counters.lookedIntoRows == Misses.Limit)
      assert(counters.inputRows(Side.Left) == 3 * Misses.Limit)
    }
  }

  test("rows that meet a partner count once in a semi join") {
    new Fixture(JoinType.LeftSemi) {
      arrive(Side.Right, r(6).key(7))
      arrive(Side.Right, r(7).key(7))
      assert(arrive(Side.Left, l(5).key(7)).length == 1)
      assert(counters.joinedRows == 1)
    }
  }

  test("how far the row furthest back was behind its watermark, late or not") {
    new Fixture {
      operator.restore(Array(10L, Unknown))
      assert(operator.furthestBehind.toSeq == Seq(Unknown, Unknown))
      arrive(Side.Left, l(12).key(7))
      arrive(Side.Right, r(1).key(7))
      assert(operator.furthestBehind.toSeq == Seq(-2L, Unknown))
      arrive(Side.Left, l(4).key(7))
      assert(operator.furthestBehind.toSeq == Seq(6L, Unknown))
      assert(counters.lateRows(Side.Left) == 1)
    }
  }
}
