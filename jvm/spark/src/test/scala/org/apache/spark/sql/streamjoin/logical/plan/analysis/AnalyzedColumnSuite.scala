package org.apache.spark.sql.streamjoin.logical.plan.analysis

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic
import org.apache.spark.sql.streamjoin.AnalysisSession

/** The columns of an input keep what the analyzed query says of them. */
class AnalyzedColumnSuite extends AnalysisSession {

  private def input(n: String, columns: String*): DataFrame =
    ordered(stream("value AS id" +: "timestamp AS t" +: columns: _*), "t").alias(n)

  private def on(l: String, r: String, id: String = "id") =
    s"$l.id = $r.$id AND $r.t BETWEEN $l.t AND $l.t + INTERVAL '1' MINUTE"

  private def left(plan: LogicalPlan): StreamJoinInput =
    plan.collectFirst { case i: StreamJoinInput => i }.get

  private def optimized(df: DataFrame): LogicalPlan =
    session.sessionState.optimizer.execute(
      df.asInstanceOf[classic.DataFrame].queryExecution.analyzed
    )

  test("fields keep their nullability, also if Spark finds that they are never NULL") {
    val x = "CAST(CASE WHEN value = 1 THEN '1.5' ELSE '2.5' END AS DOUBLE) AS x"
    val both = joined(input("a", s"struct($x) AS point", "1 AS one"), input("b"), on("a", "b"))
      .select("a.id", "a.point", "a.one")
    def point(i: StreamJoinInput) = i.output.find(_.name == "point").get.dataType
    val after = left(optimized(both))
    assert(after.child.output.find(_.name == "point").get.dataType != point(after))
    assert(point(after) == point(left(planOf(both))))
    assert(!after.output.find(_.name == "one").get.nullable)
  }

  test("each part of a column that the analyzed query does not have may be NULL") {
    val plan = planOf(stream("value AS id", "struct(1 AS x) AS s"))
    val found = AnalyzedColumn.typed(plan.output, Nil)
    assert(plan.output.last.dataType.sql == "STRUCT<x: INT NOT NULL>")
    assert(found.forall(_.nullable))
    assert(found.last.dataType.sql == "STRUCT<x: INT>")
  }
}
