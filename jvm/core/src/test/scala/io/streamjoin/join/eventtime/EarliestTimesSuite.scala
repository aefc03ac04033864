package io.streamjoin.join.eventtime

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.bounds.RowTimes
import io.streamjoin.model.Side.Left
import io.streamjoin.testing.{TestJoin, TestRow}

class EarliestTimesSuite extends AnyFunSuite {

  /** A left input that is a join: its two times limit a row together. */
  private object twoTimes extends TestJoin {
    val a = left("a")
    val c = left("c", nullable = true)
    val b = right("b")
    on(a.between(b - 1, b + 1))
    known(c.between(a - 1, a + 1))
  }

  test("the state watches the times that follow from no limit; a row without one has no number") {
    import twoTimes._
    val earliest = new EarliestTimes(bounds, Left)
    assert(Seq(a, c).forall(column => earliest.isWatched(column.index)))
    val watched = earliest.watched((row: TestRow, times: RowTimes) =>
      rows.readTimes(Left, row, times)
    )
    val numbers = new Array[Long](2)
    watched.read(l(5, 7), numbers, 0)
    assert(numbers.toSeq == Seq(5L, 7L))
    watched.read(l(6, 8).without(c), numbers, 0)
    assert(numbers.toSeq == Seq(6L, Long.MaxValue))
  }
}
