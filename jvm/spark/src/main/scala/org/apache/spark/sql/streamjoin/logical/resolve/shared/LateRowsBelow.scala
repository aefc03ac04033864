package org.apache.spark.sql.streamjoin.logical.resolve.shared

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{JoinNode, StreamJoin}
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns

import io.streamjoin.model.Side

/**
 * The late rows of one join in the plan above it.
 *
 * @param columns the columns with the reason, NULL in all other rows; empty if the query omits them
 * @param present whether the plan may still contain late rows
 */
private[logical] final case class LateRowsBelow(columns: Set[ExprId], present: Boolean) {

  private def renamed(output: Seq[(Option[Attribute], ExprId)]): LateRowsBelow =
    copy(columns = output.collect { case (Some(from), to) if columns(from.exprId) => to }.toSet)
}

/**
 * Handles late rows of a join that reach another join. That join must not treat them as rows in
 * time, since neither watermarks nor bounds apply to them. It emits them again if it emits late
 * rows at all, and can distinguish them from others. Else it is refused.
 */
private[logical] object LateRowsBelow extends PredicateHelper {

  /** The refusal of a join that late rows of a join below reach, if it does not emit them again. */
  def refusal(join: StreamJoin): Option[Refusal] = (for {
    (side, input) <- Side.both.zip(join.children)
    rows <- of(input) if rows.present
    if join.late.isEmpty || rows.columns.isEmpty || !join.joinType.emits(side)
  } yield Refusal(StreamJoinErrors.lateRowsBelow(join.origin, side.name, input.output))).headOption

  /** Whether rows of a plan may include late rows of a join. */
  def reach(plan: LogicalPlan): Boolean = of(plan).exists(_.present)

  /** The columns of a plan with the reason why rows are late. */
  def columns(plan: LogicalPlan): Seq[Attribute] = {
    val ids = of(plan).flatMap(_.columns).toSet
    plan.output.filter(a => ids(a.exprId))
  }

  private def of(plan: LogicalPlan): Seq[LateRowsBelow] = plan match {
    case j: JoinNode if j.late.nonEmpty =>
      Seq(LateRowsBelow(j.late.map(_.column.exprId).toSet, present = true))
    case Filter(condition, child) => of(child).map(without(_, condition))
    case Project(list, child) =>
      of(child).map(_.renamed(list.map(e => TimeColumns.passed(e) -> e.exprId)))
    case u: Union =>
      u.children.flatMap { child =>
        of(child).map(_.renamed(child.output.map(Some(_)).zip(u.output.map(_.exprId))))
      }
    case _: Aggregate                      => Nil
    case _ if TimeColumns.isStateful(plan) => Nil
    case _ =>
      val kept = plan.outputSet
      plan.children.flatMap(of).map { rows =>
        rows.copy(columns = kept.collect { case a if rows.columns(a.exprId) => a.exprId }.toSet)
      }
  }

  private def without(rows: LateRowsBelow, condition: Expression): LateRowsBelow = {
    def isLate(e: Expression): Boolean = e match {
      case a: Attribute                => rows.columns(a.exprId)
      case GetStructField(child, _, _) => isLate(child)
      case _                           => false
    }
    rows.copy(present = rows.present && !splitConjunctivePredicates(condition).exists {
      case IsNull(e)         => isLate(e)
      case Not(IsNotNull(e)) => isLate(e)
      case _                 => false
    })
  }
}
