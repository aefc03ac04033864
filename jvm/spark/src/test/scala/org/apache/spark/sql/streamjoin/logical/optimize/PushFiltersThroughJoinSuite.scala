package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.{And, GreaterThan, Literal, Rand}
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin

import io.streamjoin.model.JoinType

/** [[PushFilters]] above event-time joins. */
class PushFiltersThroughJoinSuite extends RulesOverJoins {

  private def pushed(how: String, names: String*): StreamJoin = {
    val j = join(how)
    PushFilters(Filter(above3(j, names: _*), j)) match {
      case made: StreamJoin => made
      case other            => fail(s"the filter was not pushed:\n$other")
    }
  }

  test("a filter on both inputs is pushed into each input") {
    val j = pushed("inner", "x", "y")
    assert(filtered(j.left) == Set("x") && filtered(j.right) == Set("y"))
  }

  test("a filter that drops the padded rows narrows an outer join") {
    for (
      (how, name, narrower) <- Seq(
        ("left", "y", JoinType.Inner),
        ("right", "x", JoinType.Inner),
        ("full", "x", JoinType.LeftOuter),
        ("full", "y", JoinType.RightOuter)
      )
    ) assert(pushed(how, name).joinType == narrower, s"$how, $name")
  }

  test("a filter on the preserved input is pushed and keeps the join type") {
    for (
      (how, name) <- Seq("left" -> "x", "right" -> "y", "left_semi" -> "x", "left_anti" -> "x")
    ) {
      val j = pushed(how, name)
      assert(j.joinType == join(how).joinType)
      assert(filtered(if (how == "right") j.right else j.left) == Set(name), how)
    }
  }

  test("a nondeterministic filter stays above the join") {
    val j = join("inner")
    val random = GreaterThan(Rand(Literal(1L)), Literal(0.5))
    PushFilters(Filter(And(random, above3(j, "x")), j)) match {
      case Filter(`random`, made: StreamJoin) =>
        assert(filtered(made.left) == Set("x"))
        assert(!made.exists(_.expressions.exists(!_.deterministic)))
      case other => fail(s"the filter is not directly above the join:\n$other")
    }
  }
}
