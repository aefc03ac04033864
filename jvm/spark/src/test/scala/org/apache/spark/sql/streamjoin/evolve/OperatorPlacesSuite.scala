package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.streamjoin.logical.plan.analysis.InputSource
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.JoinType.{Inner, LeftAnti, LeftOuter, LeftSemi}

class OperatorPlacesSuite extends AnyFunSuite {

  private def sources(names: String) = names.map(n => InputSource(None, Seq(s"kafka $n")))

  /** @param operators the sources of each input, such as `ab|c` */
  private def places(all: String, operators: String*): Seq[Seq[Seq[Int]]] =
    OperatorPlaces.of(operators.map(_.split('|').toSeq.map(sources(_))), sources(all))

  test("a source that another join reads again is the later one") {
    assert(places("abca", "a|b", "c|a") == Seq(Seq(Seq(0), Seq(1)), Seq(Seq(2), Seq(3))))
    assert(places("abab", "a|b", "a|b") == Seq(Seq(Seq(0), Seq(1)), Seq(Seq(2), Seq(3))))
  }

  test("a join below another has the sources of one of its inputs") {
    assert(
      places("abcab", "ab|cab", "a|b", "c|ab", "a|b") == Seq(
        Seq(Seq(0, 1), Seq(2, 3, 4)),
        Seq(Seq(0), Seq(1)),
        Seq(Seq(2), Seq(3, 4)),
        Seq(Seq(3), Seq(4))
      )
    )
  }

  test("a join below an ordered output has the same sources") {
    assert(places("ab", "ab", "a|b") == Seq(Seq(Seq(0, 1)), Seq(Seq(0), Seq(1))))
  }

  test("sources beside all operators are passed over") {
    assert(places("xabzya", "a|b", "y|a") == Seq(Seq(Seq(1), Seq(2)), Seq(Seq(4), Seq(5))))
  }

  test("rows have no columns of the right input of a LEFT SEMI or LEFT ANTI join below") {
    // ((0 SEMI 1) LEFT 2) ANTI 3
    val joins = Seq(
      (Seq(Seq(0, 1, 2), Seq(3)), LeftAnti),
      (Seq(Seq(0, 1), Seq(2)), LeftOuter),
      (Seq(Seq(0), Seq(1)), LeftSemi)
    )
    assert(joins.flatMap(_._1).map(OperatorPlaces.withColumns(_, joins)) ==
      Seq(Seq(0, 2), Seq(3), Seq(0), Seq(2), Seq(0), Seq(1)))
    // an ordered output has one input
    assert(OperatorPlaces.withColumns(Seq(0, 1, 2, 3), (Seq(Seq(0, 1, 2, 3)), Inner) +: joins) ==
      Seq(0, 2))
  }
}
