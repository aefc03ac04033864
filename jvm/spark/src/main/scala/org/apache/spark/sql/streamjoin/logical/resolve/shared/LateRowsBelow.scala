package org.apache.spark.sql.streamjoin.logical.resolve.shared

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.{JoinNode, StreamJoin}
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns

import io.streamjoin.model.Side

/**
 * The late rows that one join emits, somewhere above it.
 *
 * @param columns those that say why a row is late, NULL in all others; none where they were left out
 * @param present whether such rows may still be there
 */
private[logical] final case class LateRowsBelow(columns: Set[ExprId], present: Boolean)

/**
 * Late rows of a join must not go into another one as if they were in time: neither the watermarks of
 * their columns nor what is known of their times holds for them. A join above emits them again, if
 * it emits late rows at all and can tell them from others; else it is refused.
 */
private[logical] object LateRowsBelow extends PredicateHelper {

  /** Why a join cannot be: late rows of a join below would reach it, and it does not emit them again. */
  def refusal(join: StreamJoin): Option[Refusal] = (for {
    (side, input) <- Side.both.zip(join.children)
    rows <- of(input) if rows.present
    if join.late.isEmpty || rows.columns.isEmpty || !join.joinType.emits(side)
  } yield Refusal(StreamJoinErrors.lateRowsBelow(join.origin, side.name, input.output))).headOption

  /** Whether late rows of a join come up to here among the others. */
  def reach(plan: LogicalPlan): Boolean = of(plan).exists(_.present)

  /** The columns of a plan that say why rows are late. */
  def columns(plan: LogicalPlan): Seq[Attribute] = {
    val ids = of(plan).flatMap(_.columns).toSet
    plan.output.filter(a => ids(a.exprId))
  }

  private def of(plan: LogicalPlan): Seq[LateRowsBelow] = plan match {
    case j: JoinNode if j.late.nonEmpty =>
      Seq(LateRowsBelow(j.late.map(_.column.exprId).toSet, present = true))
    case Filter(condition, child) => of(child).map(without(_, condition))
    case Project(list, child) =>
      of(child).map(rows => renamed(rows, list.map(e => TimeColumns.passed(e) -> e.exprId)))
    case u: Union =>
      u.children.flatMap { child =>
        of(child).map(renamed(_, child.output.map(Some(_)).zip(u.output.map(_.exprId))))
      }
    case _: Aggregate                      => Nil
    case _ if TimeColumns.isStateful(plan) => Nil
    case _ =>
      val kept = plan.outputSet
      plan.children.flatMap(of).map { rows =>
        rows.copy(columns = kept.collect { case a if rows.columns(a.exprId) => a.exprId }.toSet)
      }
  }

  private def renamed(
      rows: LateRowsBelow,
      columns: Seq[(Option[Attribute], ExprId)]
  ): LateRowsBelow =
    rows.copy(columns = columns.collect {
      case (Some(from), to) if rows.columns(from.exprId) => to
    }.toSet)

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
