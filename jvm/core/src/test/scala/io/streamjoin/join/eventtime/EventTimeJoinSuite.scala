package io.streamjoin.join.eventtime

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.{Count, Counters}
import io.streamjoin.model.Watermarks.Unknown
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.{Emitted, HeapJoinState, Joined, TestJoin, TestRow, Unmatched}

class EventTimeJoinSuite extends AnyFunSuite {

  private object sameTime extends TestJoin {
    val lTime = left("l.time")
    val rTime = right("r.time")
    on(lTime === rTime)
  }

  import sameTime._

  private class Fixture(joinType: JoinType) {
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
  }

  test("a row below the watermark of the batch's end is joined but not buffered") {
    new Fixture(JoinType.LeftOuter) {
      assert(operator.process(Side.Right, r(5)).isEmpty)
      val endOfBatch = Array(Unknown, 8L)
      assert(operator.process(Side.Left, l(5), endOfBatch).toSeq == Seq(Joined(l(5), r(5))))
      assert(operator.process(Side.Left, l(7), endOfBatch).toSeq == Seq(Unmatched(l(7))))
      assert(operator.process(Side.Left, l(8), endOfBatch).isEmpty)
      assert(state.all(Side.Left).map(_.row).toSeq == Seq(l(8)))
      // the watermark before the batch decides which rows are late
      assert(counters.rows(Side.Left, Count.Late) == 0)
      assert(operator.advance(endOfBatch).isEmpty)
      assert(state.size(Side.Left) == 1)
    }
  }

  test("restored watermarks decide which rows are late and evict nothing by themselves") {
    new Fixture(JoinType.LeftOuter) {
      assert(operator.process(Side.Left, l(5)).isEmpty)
      operator.restore(Array(Unknown, 10L))
      assert(state.size(Side.Left) == 1)
      assert(operator.received.toSeq == Seq(Unknown, 10L))
      assert(operator.process(Side.Right, r(9)).isEmpty)
      assert(counters.rows(Side.Right, Count.Late) == 1)
    }
  }

  test("`received` returns a copy of the watermarks") {
    new Fixture(JoinType.Inner) {
      operator.received(0) = 100
      assert(operator.process(Side.Left, l(5)).isEmpty)
      assert(counters.rows(Side.Left, Count.Late) == 0)
    }
  }

  test("next after the last output row throws NoSuchElementException") {
    new Fixture(JoinType.Inner) {
      assert(operator.process(Side.Right, r(5)).isEmpty)
      val found = operator.process(Side.Left, l(5))
      assert(found.next() == Joined(l(5), r(5)))
      assertThrows[NoSuchElementException](found.next())
    }
  }

  test("counters count evicted, late and padded rows by side") {
    new Fixture(JoinType.FullOuter) {
      Seq(l(1), l(2), l(3)).foreach(operator.process(Side.Left, _).toSeq)
      Seq(r(2), r(9)).foreach(operator.process(Side.Right, _).toSeq)
      // evicts l{1}, l{2}, l{3} and r{2}; all but l{2} and r{2} are unmatched
      assert(operator.advance(Array(5L, 5L)).toSet == Set(Unmatched(l(1)), Unmatched(l(3))))
      assert(operator.process(Side.Left, l(4)).isEmpty)
      assert(Side.both.map(counters.rows(_, Count.Evicted)) == Seq(3, 1))
      assert(Side.both.map(counters.rows(_, Count.Late)) == Seq(1, 0))
      assert(counters.rows(Count.NullPadded) == 2)
    }
  }
}
