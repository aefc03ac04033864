package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.{GreaterThan, Literal, Rand}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.StreamJoinInput
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{OrderScope, StreamOrder}

/** [[PushFilters]] and [[OrderInOnePartition]] above a [[StreamOrder]]. */
class RulesOverOrdersSuite extends RulesOverJoins {

  private def orderIn(plan: LogicalPlan): StreamOrder =
    plan.collectFirst { case o: StreamOrder => o }.get

  private lazy val order: StreamOrder = orderIn(planOf(a.orderBy("t")))

  test("a filter is pushed below an order") {
    PushFilters(Filter(above3(order, "x"), order)) match {
      case o: StreamOrder =>
        assert(o.child == StreamJoinInput.filtered(order.child, above3(order, "x")))
        assert(o.output == order.output)
      case other => fail(s"the filter was not pushed:\n$other")
    }
  }

  test("a nondeterministic filter stays above an order") {
    val plan = Filter(GreaterThan(Rand(Literal(1L)), Literal(0.5)), order)
    assert(PushFilters(plan) == plan)
  }

  test("an order below LIMIT or coalesce(1) has the scope of one partition") {
    for (
      gathered <- Seq(
        a.orderBy("t").limit(5),
        a.orderBy("t").where("x > 3").limit(5),
        a.orderBy("t").select("x", "t").coalesce(1)
      )
    ) {
      val plan = planOf(gathered)
      assert(orderIn(plan).scope != OrderScope.OnePartition)
      assert(orderIn(OrderInOnePartition(plan)).scope == OrderScope.OnePartition, plan)
    }
  }

  test("an order without LIMIT or coalesce(1) above it keeps its scope") {
    for (df <- Seq(a.orderBy("t"), a.orderBy("t").where("x > 3"))) {
      val plan = planOf(df)
      assert(OrderInOnePartition(plan) == plan)
    }
  }
}
