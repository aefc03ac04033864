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
      changes.sort((a, b) => Integer.compare(a.unique, b.unique))
      assert(changes.length == n)
      assert((0 until n).map(changes(_).value) == (0 until n).sortBy(uniques(_)))
      assert((0 until n).forall(i => changes.isMarked(i) == (changes(i).value % 2 == 0)))
    }
  }

  test("the changes that are retained stay in their order, with their marks") {
    val changes = new ChangeBuffer[Row]
    for (i <- 9 to 0 by -1) changes.add(Row(Some(1), i, i), marked = i % 2 == 0)
    changes.retain(_.unique % 3 == 0)
    assert((0 until changes.length).map(i => changes(i).unique -> changes.isMarked(i)) ==
      Seq(9 -> false, 6 -> true, 3 -> false, 0 -> true))
  }
}
