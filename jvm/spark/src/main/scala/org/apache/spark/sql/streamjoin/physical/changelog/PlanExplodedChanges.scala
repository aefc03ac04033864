package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{Attribute, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SparkPlan}
import org.apache.spark.sql.streamjoin.logical.plan.{
  ChangelogJoin,
  ChangelogMarks,
  OfChanges,
  ToUpserts
}
import org.apache.spark.sql.streamjoin.physical.consolidate.{Consolidate, ConsolidateExec}

/**
 * Plans what stands above the result of a changelog join where a generator, or UNPIVOT, is among it: the two images of an update may
 * become different numbers of rows, of which some are equal. So the join does not net what comes out of it, and all is
 * netted on top, by all columns: what is left are inserts and deletes.
 */
private[physical] object PlanExplodedChanges {

  private val Reason = "a generator or UNPIVOT may make equal rows of what goes and of what comes"

  /** @return none: no generator is above a result that takes rows back */
  def apply(plan: LogicalPlan, planLater: LogicalPlan => SparkPlan): Option[SparkPlan] =
    Option.when(isExploded(plan))(netted(plan, planLater))

  private def isExploded(plan: LogicalPlan): Boolean = plan match {
    case _: Project | _: Filter        => isExploded(plan.children.head)
    case g @ (_: Generate | _: Expand) => results(g.children.head).exists(AppendOnly.takesBack)
    case _                             => false
  }

  private def results(plan: LogicalPlan): Seq[ChangelogJoin] = plan match {
    case j: ChangelogJoin              => Seq(j).filter(_.isResult)
    case _: Aggregate | _: ToUpserts   => Nil
    case p @ (_: UnaryNode | _: Union) => p.children.flatMap(results)
    case _                             => Nil
  }

  /** What tells of the change is put to what is left. */
  private def netted(plan: LogicalPlan, planLater: LogicalPlan => SparkPlan): SparkPlan =
    plan match {
      case Project(list, child) if OfChanges.in(child).computed.nonEmpty =>
        ProjectExec(list, netted(child, planLater))
      case Filter(condition, child) if OfChanges.in(child).tells(condition) =>
        FilterExec(condition, netted(child, planLater))
      case Project(list, child) =>
        val below = OfChanges.in(child)
        val (ofChange, ofRow) = list.partition(below.tells)
        val needed = child.output.filter(a => ofChange.exists(_.references.contains(a)))
        val made = ofRow.map(_.exprId).toSet
        val inner = ofRow ++ needed.filterNot(a => made(a.exprId))
        val outer = list.map(e => if (made(e.exprId)) e.toAttribute else e)
        val result = above(inner, Project(inner, child), planLater)
        if (outer == result.output) result else ProjectExec(outer, result)
      case other => above(other.output, other, planLater)
    }

  private def above(
      columns: Seq[NamedExpression],
      plan: LogicalPlan,
      planLater: LogicalPlan => SparkPlan
  ): SparkPlan = {
    val output = columns.map(_.toAttribute)
    val ofChange = OfChanges.in(plan).passed
    val kind: Attribute = ChangelogMarks.kind(output).getOrElse(
      throw new IllegalStateException(s"no kind of changes among ${output.mkString(", ")}")
    )
    ConsolidateExec(
      Consolidate(Nil, output.filterNot(ofChange.contains), kind, Nil, Consolidate.All),
      None,
      Reason,
      planLater(plan.transformUp { case j: ChangelogJoin if j.isResult => j.asResult(false) })
    )
  }
}
