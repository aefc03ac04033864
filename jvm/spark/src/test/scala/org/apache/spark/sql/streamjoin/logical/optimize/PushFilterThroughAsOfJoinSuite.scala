package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.streamjoin.logical.plan.{AsOfJoin, LateRows}
import org.apache.spark.sql.types.StringType

class PushFilterThroughAsOfJoinSuite extends RulesOverJoins {

  private lazy val lastRows: AsOfJoin = {
    a.createOrReplaceTempView("a")
    b.createOrReplaceTempView("b")
    analyzed(
      "SELECT * FROM a JOIN b OVER (ROWS 1 PRECEDING) AS b ON a.k = b.bk"
    ).collectFirst { case j: AsOfJoin => j }.get
  }

  test("a filter of the probe side goes below the join") {
    PushFilters(Filter(above3(lastRows, "x"), lastRows)) match {
      case j: AsOfJoin => assert(filtered(j.left) == Set("x") && filtered(j.right).isEmpty)
      case other       => fail(s"a filter stays above:\n$other")
    }
  }

  test("one of the build side stays above: without its last row an earlier one would be the last") {
    val plan = Filter(above3(lastRows, "y"), lastRows)
    assert(PushFilters(plan) == plan)
  }

  test("every filter stays above a join that emits late rows: it is asked of them, too") {
    val late = LateRows(AttributeReference("late", StringType)())
    val plan = Filter(above3(lastRows, "x"), lastRows.copy(late = Some(late)))
    assert(PushFilters(plan) == plan)
  }

  test("of one of both each part goes where it belongs") {
    PushFilters(Filter(above3(lastRows, "x", "y"), lastRows)) match {
      case f @ Filter(_, j: AsOfJoin) =>
        assert(f.condition == above3(lastRows, "y"))
        assert(filtered(j.left) == Set("x") && filtered(j.right).isEmpty)
      case other => fail(s"no filter above the join:\n$other")
    }
  }
}
