package io.streamjoin.join.changelog

import org.scalatest.funsuite.AnyFunSuite

/** Sorts the changes of a join key by row identity. */
class ChangeBufferSuite extends AnyFunSuite {

  test("the changes of 1 to 130 rows are sorted with their marks, those of a row in their order") {
    val changes = new ChangeBuffer[Row]
    for (n <- (1 to 130) ++ (130 to 1 by -1); rows <- Seq(1, 7, n)) {
      changes.clear()
      val uniques = (0 until n).map(i => i * i % rows)
      for ((unique, i) <- uniques.zipWithIndex)
        changes.add(Row(Some(1), unique, i), marked = i % 2 == 0)
      changes.sort(0, n, (a, b) => Integer.compare(a.unique, b.unique))
      assert(changes.length == n)
      assert((0 until n).map(changes(_).value) == (0 until n).sortBy(uniques(_)))
      assert((0 until n).forall(i => changes.isMarked(i) == (changes(i).value % 2 == 0)))
    }
  }

  test("a part is sorted, and the others stay in their places") {
    val changes = new ChangeBuffer[Row]
    for (i <- 9 to 0 by -1) changes.add(Row(Some(1), i, i), marked = true)
    changes.sort(2, 6, (a, b) => Integer.compare(a.unique, b.unique))
    assert((0 until 10).map(changes(_).unique) == Seq(9, 8, 4, 5, 6, 7, 3, 2, 1, 0))
  }
}
