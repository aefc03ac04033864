package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.{GreaterThan, Literal, Rand}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.streamjoin.logical.plan.{OrderScope, StreamOrder}

/** [[PushFilters]] and [[OrderInOnePartition]]. */
class RulesOverOrdersSuite extends RulesOverJoins {

  private def orderIn(plan: LogicalPlan): StreamOrder =
    plan.collectFirst { case o: StreamOrder => o }.get

  private lazy val order: StreamOrder = orderIn(planOf(a.orderBy("t")))

  test("a filter goes below an order") {
    PushFilters(Filter(above3(order, "x"), order)) match {
      case o: StreamOrder =>
        assert(o.child == Filter(above3(order, "x"), order.child) && o.output == order.output)
      case other => fail(s"a filter stays above:\n$other")
    }
  }

  test("one that differs from one evaluation to the next stays above") {
    val plan = Filter(GreaterThan(Rand(Literal(1L)), Literal(0.5)), order)
    assert(PushFilters(plan) == plan)
  }

  test("an order below what brings all rows into one partition is one of that partition") {
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

  test("any other order stays what it is") {
    for (df <- Seq(a.orderBy("t"), a.orderBy("t").where("x > 3"))) {
      val plan = planOf(df)
      assert(OrderInOnePartition(plan) == plan)
    }
  }
}
