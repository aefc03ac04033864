package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.streamjoin.logical.plan.nodes.AsOfJoin
import org.apache.spark.sql.streamjoin.logical.plan.options.LateRows
import org.apache.spark.sql.types.StringType

/** [[PushFilters]] above as-of joins. */
class PushFilterThroughAsOfJoinSuite extends RulesOverJoins {

  private lazy val lastRows: AsOfJoin = {
    a.createOrReplaceTempView("a")
    b.createOrReplaceTempView("b")
    analyzed(
      "SELECT * FROM a JOIN b OVER (ROWS 1 PRECEDING) AS b ON a.k = b.bk"
    ).collectFirst { case j: AsOfJoin => j }.get
  }

  test("a filter on the probe side is pushed below the join") {
    PushFilters(Filter(above3(lastRows, "x"), lastRows)) match {
      case j: AsOfJoin => assert(filtered(j.left) == Set("x") && filtered(j.right).isEmpty)
      case other       => fail(s"the filter was not pushed:\n$other")
    }
  }

  test("a filter on the build side is not pushed") {
    // without its last row, an earlier row would become the last one
    val plan = Filter(above3(lastRows, "y"), lastRows)
    assert(PushFilters(plan) == plan)
  }

  test("no filter is pushed below a join that emits late rows") {
    // the filter applies to late rows too
    val late = LateRows(AttributeReference("late", StringType)())
    val plan = Filter(above3(lastRows, "x"), lastRows.copy(late = Some(late)))
    assert(PushFilters(plan) == plan)
  }

  test("a filter on both sides is pushed on the probe side only") {
    PushFilters(Filter(above3(lastRows, "x", "y"), lastRows)) match {
      case f @ Filter(_, j: AsOfJoin) =>
        assert(f.condition == above3(lastRows, "y"))
        assert(filtered(j.left) == Set("x") && filtered(j.right).isEmpty)
      case other => fail(s"there is no filter above the join:\n$other")
    }
  }
}
