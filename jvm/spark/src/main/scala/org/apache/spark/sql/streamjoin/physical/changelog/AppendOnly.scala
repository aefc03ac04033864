package org.apache.spark.sql.streamjoin.physical.changelog

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, In, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.StreamJoinInput
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

import io.streamjoin.model.{JoinType, Side}

/**
 * Whether a changelog join is an inner join of insert-only inputs without keys, whose expiry retracts
 * nothing, so that it emits no deletes. The plan of each batch is examined anew. Both modes store the
 * same rows, so the mode may differ between batches.
 */
private[changelog] object AppendOnly {

  def apply(j: ChangelogJoin): Boolean =
    j.joinType == JoinType.Inner && !j.normalizes && onlyCome(j)

  /**
   * Whether a join may emit deletes. A semi join of insert-only inputs without keys emits none,
   * either.
   */
  def takesBack(j: ChangelogJoin): Boolean =
    !apply(j) && !(j.joinType == JoinType.LeftSemi && onlyCome(j))

  private def onlyCome(j: ChangelogJoin): Boolean = Side.both.forall { side =>
    j.key(side).isEmpty && !j.ttl(side).exists(_.retracts) && onlyInserts(j, side)
  }

  /** Whether all changes of an input are inserts. */
  def onlyInserts(j: ChangelogJoin, side: Side): Boolean =
    traced(j.of(side).added, j.input(side)) match {
      case (Literal.TrueLiteral, _)        => true
      case (In(kind: Attribute, _), below) => areInserts(kind, below)
      case _                               => false
    }

  /** Whether this is the row kind of an append-only join below, so that all changes are inserts. */
  private def areInserts(kind: Attribute, plan: LogicalPlan): Boolean =
    traced(kind, plan) match {
      case (a: Attribute, below: ChangelogJoin) =>
        below.changeKind.exprId == a.exprId && apply(below)
      case _ => false
    }

  /**
   * Follows a column through projections and filters: its expression, and the plan that it refers
   * to.
   */
  @tailrec
  private def traced(e: Expression, plan: LogicalPlan): (Expression, LogicalPlan) =
    (e, plan) match {
      case (a: Attribute, Project(list, child)) => list.find(_.exprId == a.exprId) match {
          case Some(Alias(value, _)) => traced(value, child)
          case Some(column)          => traced(column, child)
          case None                  => (e, plan)
        }
      case (_: Attribute, Filter(_, child))   => traced(e, child)
      case (_: Attribute, i: StreamJoinInput) => traced(e, i.child)
      case _                                  => (e, plan)
    }
}
