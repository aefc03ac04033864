package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ImposeOrder, StreamJoin}

/**
 * Spark copies a join many times in a batch. A copy is analyzed again only if its condition or an
 * input has changed.
 */
class AnalysisOfCopiesSuite extends AnalysisSession {

  private def plan: LogicalPlan = {
    val o = ordered(stream("value AS id", "timestamp AS ot"), "ot").as("o")
    val d = ordered(stream("value AS id", "timestamp AS dt"), "dt").as("d")
    val x = ordered(stream("value AS id", "timestamp AS xt"), "xt").as("x")
    val lower =
      joined(o, d, "o.id = d.id AND dt BETWEEN ot AND ot + INTERVAL '4' SECONDS", "left")
    planOf(joined(lower, x, "o.id = x.id AND xt BETWEEN ot AND ot + INTERVAL '4' SECONDS"))
  }

  private def joins(plan: LogicalPlan): Seq[StreamJoin] = plan.collect { case j: StreamJoin => j }

  /** A copy with another condition, made as a rule of Spark makes it. */
  private def changed(join: StreamJoin, condition: Expression): StreamJoin =
    join
      .mapExpressions(e => if (e eq join.condition) condition else e)
      .asInstanceOf[StreamJoin]

  test("an unchanged copy shares the analysis of the original join") {
    val first = plan
    val copy = first.clone()
    assert(joins(first).length == 2)
    joins(first).zip(joins(copy)).foreach { case (before, after) =>
      assert(before ne after)
      assert(before.analysis eq after.analysis)
    }
  }

  test("a copy with another condition has a separate analysis") {
    val first = joins(plan).head
    val part = first.analysis.conjuncts.head
    val copy = changed(first, part)
    assert(copy.analysis.condition == part)
    assert(copy.analysis.bounds.columns.map(_.name) == first.analysis.bounds.columns.map(_.name))
    assert(copy.analysis.conditionBounds.found.isEmpty)
    assert(changed(first, And(first.condition, part)).analysis ne first.analysis)
  }

  test("a copy of a changed copy shares its analysis") {
    val first = joins(plan).head
    val copy = changed(first, And(first.condition, first.analysis.conjuncts.head))
    assert(copy.analysis ne first.analysis)
    assert(copy.clone().asInstanceOf[StreamJoin].analysis eq copy.analysis)
  }

  test("the copies of a join have one ID, and each join of a chain has another") {
    val chain = joins(plan)
    assert(chain.map(_.analysis.watermarks.id).distinct.length == 2)
    val copy = changed(chain.head, And(chain.head.condition, chain.head.analysis.conjuncts.head))
    assert(copy.analysis.watermarks.id == chain.head.analysis.watermarks.id)
  }

  test("a copy whose input has lost its watermark has a separate analysis") {
    val first = joins(plan).head
    val lost = first.right.transformUp { case o: ImposeOrder => o.child }
    val copy = first.withNewChildren(Seq(first.left, lost)).asInstanceOf[StreamJoin]
    assert(copy.analysis.bounds.columns.count(_.watermarked) == 2)
    assert(first.analysis.bounds.columns.count(_.watermarked) == 3)
  }

  test("a copy whose input has other columns has a separate analysis") {
    val first = joins(plan).head
    val fewer = Project(first.right.output.filterNot(_.name == "id"), first.right)
    val copy = first.withNewChildren(Seq(first.left, fewer)).asInstanceOf[StreamJoin]
    assert(copy.analysis.equiKeys.isEmpty && first.analysis.equiKeys.length == 1)
  }
}
