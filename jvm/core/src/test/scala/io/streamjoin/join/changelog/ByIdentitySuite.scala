package io.streamjoin.join.changelog

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{JoinType, Side}

/** Groups the changes of a join key by row identity. */
class ByIdentitySuite extends AnyFunSuite {

  private def gathered(by: ByIdentity[Row], uniques: Seq[Int]): Seq[Seq[Int]] = {
    val changes = new ChangeBuffer[Row]
    for ((unique, i) <- uniques.zipWithIndex)
      changes.add(Row(Some(1), unique, i), marked = i % 2 == 0)
    by.gather(Side.Left, changes)
    assert(changes.length == uniques.length)
    for (i <- 0 until changes.length)
      assert(changes.isMarked(i) == (changes(i).value % 2 == 0))
    val ends = (0 until by.length).map(by.end)
    (0 +: ends).zip(ends).map { case (from, until) =>
      val some = (from until until).map(changes(_))
      assert(some.map(_.unique).distinct.length == 1)
      some.map(_.value)
    }
  }

  for (layout <- Seq(Layout.UniqueKey, Layout.NoKey))
    test(s"$layout: changes of 1 to 130 different rows are separate groups, with a reused buffer") {
      val by = new ByIdentity[Row](TestChangelog(JoinType.Inner, layout, layout))
      for (n <- (1 to 130) ++ (130 to 1 by -1))
        assert(gathered(by, 1 to n) == (0 until n).map(Seq(_)))
    }

  test("the changes of a row keep their order") {
    val by =
      new ByIdentity[Row](TestChangelog(JoinType.Inner, Layout.UniqueKey, Layout.UniqueKey))
    for (n <- 2 to 40) {
      val uniques = (0 until n).map(i => i * i % 7)
      val expected = uniques.distinct.map(u => (0 until n).filter(uniques(_) == u))
      assert(gathered(by, uniques) == expected)
    }
  }
}
