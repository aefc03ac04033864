package org.apache.spark.sql.streamjoin.physical.stateful.times

import org.apache.spark.sql.catalyst.expressions.{Add, Alias, IsNull, Literal, Multiply}
import org.apache.spark.sql.catalyst.plans.logical.Range
import org.apache.spark.sql.execution.{
  CoalesceExec,
  CollapseCodegenStages,
  ProjectExec,
  RangeExec,
  SparkPlan,
  WholeStageCodegenExec
}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{AnalyzedColumn, ColumnOrigin}
import org.apache.spark.sql.types.LongType

/** The input of a join within whole-stage code generation. */
class StreamJoinInputExecSuite extends AnalysisSession {

  private lazy val range = {
    session
    RangeExec(Range(0, 5, 1, 1))
  }

  private def around(below: SparkPlan, never: Boolean): SparkPlan = {
    val doubled = Alias(Multiply(below.output.head, Literal(2L)), "v")()
    val input = StreamJoinInputExec(
      Seq(AnalyzedColumn(
        doubled.toAttribute,
        LongType,
        nullable = !never,
        ColumnOrigin(Set.empty, 1)()
      )),
      Nil,
      Nil,
      ProjectExec(Seq(below.output.head, doubled), below)
    )
    val v = input.output.last
    ProjectExec(Seq(Alias(Add(v, Literal(1L)), "w")(), Alias(IsNull(v), "n")()), input)
  }

  private def collapsed(plan: SparkPlan): SparkPlan = CollapseCodegenStages()(plan)

  test("the input is in one generated stage with the nodes below and above") {
    for (never <- Seq(true, false)) {
      val plan = collapsed(around(range, never))
      assert(plan.collect { case w: WholeStageCodegenExec => w }.length == 1)
      val rows = plan.execute().map(row => (row.getLong(0), row.getBoolean(1))).collect()
      assert(rows.toSeq == (0L to 4L).map(n => (2 * n + 1, false)))
    }
  }

  test("the input of a node without code generation is not wrapped in a generated stage") {
    val plan = collapsed(StreamJoinInputExec(Nil, Nil, Nil, CoalesceExec(1, range)))
    assert(plan.isInstanceOf[StreamJoinInputExec])
    assert(plan.children.head.isInstanceOf[CoalesceExec])
  }
}
