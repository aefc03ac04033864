package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.{
  And,
  Expression,
  PredicateHelper,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.InnerLike
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan, SubqueryAlias}
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{AwaitedColumn, StreamJoinHint}

/**
 * Moves the conjuncts of WHERE that compare columns of both inputs into ON of an inner join with
 * `emit => 'early'`.
 *
 * {{{
 *   FROM orders AS o, deliveries AS d WHERE o.id = d.id AND d.t BETWEEN o.t AND o.t + ... AND o.v > 1
 *   FROM orders AS o JOIN deliveries AS d ON o.id = d.id AND d.t BETWEEN ... WHERE o.v > 1
 * }}}
 *
 * It reads the names before Spark resolves them. The join adds columns, so the nodes above stay
 * unresolved until the join is built, and it is refused without bounds. A conjunct moves below
 * another join only if the qualifiers of its columns say that it belongs there.
 */
private[analyzer] object EarlyBounds extends PredicateHelper {

  /** The filter with its conjuncts moved, or the same filter. */
  def placed(filter: Filter): LogicalPlan = filter.child match {
    case top: Join if !top.resolved =>
      val conjuncts = splitConjunctivePredicates(filter.condition)
      val (joined, above) = new EarlyBounds(top).of(conjuncts.filter(mayMove))
      val rest = conjuncts.filter(part => !mayMove(part) || above.exists(_ eq part))
      if (rest.length == conjuncts.length) filter
      else rest.reduceOption(And).fold(joined)(Filter(_, joined))
    case _ => filter
  }

  /** Whether a conjunct depends on rows of the inputs alone, and not on their changes. */
  private def mayMove(part: Expression): Boolean = !part.exists {
    case _: SubqueryExpression | _: AwaitedColumn => true
    case UnresolvedAttribute(names)               => ChangelogMarks.isName(names.last)
    case _                                        => false
  }

  private def isEarlyInner(j: Join): Boolean =
    j.joinType.isInstanceOf[InnerLike] && StreamJoinHint.options(j).exists(_.emitsEarly)

  /** The names by which a query may qualify the columns of a plan. */
  private def names(plan: LogicalPlan): Set[String] = plan match {
    case a: SubqueryAlias      => Set(folded(a.alias))
    case r: UnresolvedRelation => Set(folded(r.multipartIdentifier.last))
    case other                 => other.children.flatMap(names).toSet
  }

  private def folded(name: String): String = name.toLowerCase(Locale.ROOT)
}

/** @param top the join right below the filter. It has all columns of the conjuncts */
private final class EarlyBounds(top: Join) extends ConjunctsOfWhere {
  import EarlyBounds._

  def of(parts: Seq[Expression]): (LogicalPlan, Seq[Expression]) = distribute(top, parts)

  override protected def through(
      plan: LogicalPlan,
      parts: Seq[Expression]
  ): (LogicalPlan, Seq[Expression]) = plan match {
    case PassesConditions(input, _, on) if isOnInputs(plan) =>
      val (child, above) = distribute(input, parts)
      (on(child), above)
    case _ => (plan, parts)
  }

  /** Whether the aliases below a node are those that the filter may use. */
  private def isOnInputs(plan: LogicalPlan): Boolean =
    plan.isInstanceOf[Join] || plan.isInstanceOf[StreamJoinHint]

  override protected def belongs(part: Expression, j: Join): Boolean = {
    val columns = part.collect { case UnresolvedAttribute(parts) => parts.map(folded) }.distinct
    val (left, right) = (names(j.left), names(j.right))
    def allIn(names: Set[String]) = columns.forall(c => c.length > 1 && names(c.head))
    isEarlyInner(j) && columns.length > 1 && ((j eq top) || allIn(left ++ right)) &&
    !allIn(left) && !allIn(right)
  }
}
