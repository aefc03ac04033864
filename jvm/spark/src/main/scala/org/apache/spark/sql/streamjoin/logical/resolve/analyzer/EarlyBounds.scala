package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.{
  And,
  Expression,
  PredicateHelper,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.{Inner, InnerLike}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan, SubqueryAlias}
import org.apache.spark.sql.streamjoin.logical.plan.{
  AwaitedColumn,
  ChangelogMarks,
  StreamJoinHint,
  Tagged
}

import io.streamjoin.model.Side

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
    case j: Join if !j.resolved =>
      val conjuncts = splitConjunctivePredicates(filter.condition)
      val (joined, above) = distribute(j, conjuncts.filter(mayMove), isTop = true)
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

  /**
   * @param isTop whether all columns of the conjuncts are in this plan
   * @return the plan, and the remaining conjuncts
   */
  private def distribute(
      plan: LogicalPlan,
      parts: Seq[Expression],
      isTop: Boolean
  ): (LogicalPlan, Seq[Expression]) = plan match {
    case j: Join =>
      val preserved = PreservedInputs.of(j.joinType)
      def into(side: Side, some: Seq[Expression]) =
        if (preserved(side)) distribute(j.children(side.index), some, isTop = false)
        else (j.children(side.index), some)
      val (left, afterLeft) = into(Side.Left, parts)
      val (right, afterRight) = into(Side.Right, afterLeft)
      val (here, above) = afterRight.partition(belongs(_, j, isTop))
      val changed = Tagged(j)(j.copy(
        left = left,
        right = right,
        joinType = if (here.isEmpty) j.joinType else Inner,
        condition = (j.condition ++ here).reduceOption(And)
      ))
      (if (above.length == parts.length) j else changed, above)
    case h: StreamJoinHint =>
      val (child, above) = distribute(h.child, parts, isTop)
      (h.withNewChildren(Seq(child)), above)
    case _ => (plan, parts)
  }

  private def belongs(part: Expression, j: Join, isTop: Boolean): Boolean = {
    val columns = part.collect { case UnresolvedAttribute(parts) => parts.map(folded) }.distinct
    val (left, right) = (names(j.left), names(j.right))
    def allIn(names: Set[String]) = columns.forall(c => c.length > 1 && names(c.head))
    isEarlyInner(j) && columns.length > 1 && (isTop || allIn(left ++ right)) &&
    !allIn(left) && !allIn(right)
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
