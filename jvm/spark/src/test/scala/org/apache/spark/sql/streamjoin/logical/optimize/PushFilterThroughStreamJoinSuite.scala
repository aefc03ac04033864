package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.{And, GreaterThan, Literal, Rand}
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoin

import io.streamjoin.model.JoinType

class PushFilterThroughStreamJoinSuite extends RulesOverJoins {

  private def pushed(how: String, names: String*): StreamJoin = {
    val j = join(how)
    PushFilterThroughStreamJoin(Filter(above3(j, names: _*), j)) match {
      case made: StreamJoin => made
      case other            => fail(s"a filter stays above:\n$other")
    }
  }

  test("a filter of one input goes below the join, of both into both") {
    val j = pushed("inner", "x", "y")
    assert(filtered(j.left) == Set("x") && filtered(j.right) == Set("y"))
  }

  test("an outer join of which it drops the padded rows becomes a narrower one") {
    for (
      (how, name, narrower) <- Seq(
        ("left", "y", JoinType.Inner),
        ("right", "x", JoinType.Inner),
        ("full", "x", JoinType.LeftOuter),
        ("full", "y", JoinType.RightOuter)
      )
    ) assert(pushed(how, name).joinType == narrower, s"$how, $name")
  }

  test("a filter of the preserved input leaves the join as it is") {
    for (
      (how, name) <- Seq("left" -> "x", "right" -> "y", "left_semi" -> "x", "left_anti" -> "x")
    ) {
      val j = pushed(how, name)
      assert(j.joinType == join(how).joinType)
      assert(filtered(if (how == "right") j.right else j.left) == Set(name), how)
    }
  }

  test("what differs from one evaluation to the next stays above") {
    val j = join("inner")
    val drawn = GreaterThan(Rand(Literal(1L)), Literal(0.5))
    PushFilterThroughStreamJoin(Filter(And(drawn, above3(j, "x")), j)) match {
      case Filter(`drawn`, made: StreamJoin) =>
        assert(filtered(made.left) == Set("x"))
        assert(!made.exists(_.expressions.exists(!_.deterministic)))
      case other => fail(s"it is not right above the join:\n$other")
    }
  }
}
