package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.plans.{Inner, InnerLike}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.streamjoin.logical.plan.Tagged

/**
 * Moves the conjuncts of a filter into the inner joins below it, each into the lowest join to which
 * it belongs.
 */
private[analyzer] trait ConjunctsOfWhere {

  protected def belongs(part: Expression, j: Join): Boolean

  /** Moves conjuncts through a node that is no inner join. */
  protected def through(
      plan: LogicalPlan,
      parts: Seq[Expression]
  ): (LogicalPlan, Seq[Expression])

  /** A join with further conjuncts. */
  protected def completed(j: Join, parts: Seq[Expression]): Join = copied(j)(_.copy(
    joinType = if (parts.isEmpty) j.joinType else Inner,
    condition = (j.condition ++ parts).reduceOption(And)
  ))

  /** @return the plan, and the remaining conjuncts */
  protected final def distribute(
      plan: LogicalPlan,
      parts: Seq[Expression]
  ): (LogicalPlan, Seq[Expression]) = plan match {
    case j: Join if j.joinType.isInstanceOf[InnerLike] =>
      val (left, afterLeft) = distribute(j.left, parts)
      val (right, afterRight) = distribute(j.right, afterLeft)
      val (here, above) = afterRight.partition(belongs(_, j))
      (completed(copied(j)(_.copy(left = left, right = right)), here), above)
    case other => through(other, parts)
  }

  /** A changed copy of a join, with its place in the text and its tags. */
  protected final def copied(j: Join)(change: Join => Join): Join =
    CurrentOrigin.withOrigin(j.origin)(Tagged(j)(change(j)))
}
