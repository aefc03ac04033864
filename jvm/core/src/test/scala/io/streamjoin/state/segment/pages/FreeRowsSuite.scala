package io.streamjoin.state.segment.pages

import org.scalatest.funsuite.AnyFunSuite

class FreeRowsSuite extends AnyFunSuite {

  private def freed(some: Int*): FreeRows = {
    val free = new FreeRows
    some.foreach(free.add)
    free
  }

  test("row numbers are reused in ascending order, those freed last first") {
    val free = freed(7, 3, 9)
    assert(free.take() == 3)
    free.seal()
    Seq(8, 1, 5).foreach(free.add)
    assert(Seq.fill(5)(free.take()) == Seq(1, 5, 8, 7, 9))
    assert((0 until free.taken).map(free.taken) == Seq(1, 5, 8, 7, 9))
    assert(!free.nonEmpty)
  }

  test("a rollback frees the taken row numbers again, in the same order") {
    val free = freed(4, 2, 6)
    assert(Seq(free.take(), free.take()) == Seq(2, 4))
    free.rollback()
    assert(free.taken == 0)
    assert(Seq.fill(3)(free.take()) == Seq(2, 4, 6))
  }
}
