package org.apache.spark.sql.streamjoin.evolve

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.model.JoinType._

class FlagRuleSuite extends AnyFunSuite {

  /** Whether the stored flags of both sides decide another type. */
  private def isDecided(before: JoinType, now: JoinType): Boolean =
    Side.both.forall(side => FlagRule.of(before, side, now, side).unknown.isEmpty)

  test("each type continues as itself") {
    for (joinType <- JoinType.all) assert(isDecided(joinType, joinType))
  }

  test("the flags of a type decide the types that preserve fewer sides") {
    val decided =
      for (a <- JoinType.all; b <- JoinType.all if a != b && isDecided(a, b)) yield a -> b
    assert(decided.toSet == Set(
      LeftOuter -> Inner,
      RightOuter -> Inner,
      FullOuter -> Inner,
      FullOuter -> LeftOuter,
      FullOuter -> RightOuter,
      LeftOuter -> LeftSemi,
      LeftOuter -> LeftAnti,
      FullOuter -> LeftSemi,
      FullOuter -> LeftAnti,
      LeftSemi -> LeftAnti,
      LeftAnti -> LeftSemi
    ))
  }

  test("rows that have matched leave a semi or anti join") {
    assert(FlagRule.of(LeftOuter, Side.Left, LeftSemi, Side.Left).dropsMatched)
    assert(!FlagRule.of(LeftOuter, Side.Right, LeftSemi, Side.Right).dropsMatched)
    assert(!FlagRule.of(FullOuter, Side.Left, LeftOuter, Side.Left).dropsMatched)
  }

  test("exchanged inputs keep the flags of their rows") {
    val rule = FlagRule.of(LeftOuter, Side.Left, RightOuter, Side.Right)
    assert(rule == FlagRule(preserved = true, dropsMatched = false, None))
    assert(FlagRule.of(LeftOuter, Side.Left, LeftOuter, Side.Right).unknown.isEmpty)
    assert(FlagRule.of(LeftOuter, Side.Right, LeftOuter, Side.Left).unknown.nonEmpty)
  }
}
