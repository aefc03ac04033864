package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{
  InferFiltersFromConstraints,
  PushExtraPredicateThroughJoin,
  PushPredicateThroughJoin
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.streamjoin.logical.plan.analysis.StreamJoinInput
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinTypes
import org.apache.spark.sql.types.{DataType, DoubleType, FloatType}

import io.streamjoin.model.Side

/**
 * Derives filters on the inputs of a join from its condition and from constraints of the other
 * input. Rows that fail them match nothing, and are not shuffled.
 *
 * {{{
 *   condition               o.id = d.id AND d.t BETWEEN o.t AND o.t + INTERVAL '1' HOUR
 *   constraint of d         d.id > 5
 *   filters on o            o.id > 5, o.id IS NOT NULL OR o.t IS NULL
 * }}}
 *
 * Spark's own rules derive the filters, from a join of Spark with leaf nodes as inputs. Conditions
 * on event times are excluded: the join itself counts rows that are late or lack a time. Such a row
 * must reach the join without a key as well, because a failed parser yields neither.
 */
private[logical] object InputFilters extends PredicateHelper {

  /** An input of which only columns and constraints are known. */
  final case class Leaf(output: Seq[Attribute])(promises: ExpressionSet) extends LeafNode {
    override protected lazy val validConstraints: ExpressionSet = promises
    override protected def otherCopyArgs: Seq[AnyRef] = Seq(promises)
  }

  /**
   * Adds the filters to the inputs of a join.
   *
   * Applies to the analyzed plan only. The optimizer sees one batch, and constraints of its input
   * may not hold for the next one. A join that emits late rows gets no filters: its late rows
   * include some that match nothing.
   */
  def place(join: StreamJoin): StreamJoin =
    if (join.late.nonEmpty) join
    else {
      def leaf(input: LogicalPlan) = Leaf(input.output)(asSparks(input).constraints)
      val (onLeft, onRight) =
        of(asSparks(join.copy(left = leaf(join.left), right = leaf(join.right))), join)
      join.copy(left = filtered(join.left, onLeft), right = filtered(join.right, onRight))
    }

  /**
   * Predicates that rows of the left and of the right input must satisfy in addition to known
   * constraints.
   *
   * @param join Spark's join, with the whole condition
   * @param ours the join of this project that it represents
   */
  def of(join: Join, ours: StreamJoin): (Seq[Expression], Seq[Expression]) = {
    val times = AttributeSet(ours.times)
    val asked = join.copy(condition = join.condition.map { c =>
      splitConjunctivePredicates(c).flatMap(replaceable).reduce(And)
    })
    InferFiltersFromConstraints(
      PushExtraPredicateThroughJoin(PushPredicateThroughJoin(asked))
    ) match {
      case Join(l, r, _, _, _) =>
        (
          counted(added(l, join.left, times), ours, Side.Left),
          counted(added(r, join.right, times), ours, Side.Right)
        )
      case _ => (Nil, Nil)
    }
  }

  /**
   * Relaxes IS NOT NULL predicates, so that rows without a time pass: the join counts them. Removes
   * the predicates on the times themselves.
   */
  private def counted(demands: Seq[Expression], join: StreamJoin, side: Side): Seq[Expression] = {
    val times = join.analysis.neededTimes(side)
    val lacks = times.filter(_.nullable).map(IsNull(_))
    demands.flatMap {
      case IsNotNull(time) if times.exists(_.semanticEquals(time)) => None
      case there: IsNotNull => Some((there +: lacks).reduce[Expression](Or(_, _)))
      case other            => Some(other)
    }
  }

  def filtered(input: LogicalPlan, demands: Seq[Expression]): LogicalPlan =
    demands.reduceOption(And).fold(input)(StreamJoinInput.filtered(input, _))

  private def added(
      input: LogicalPlan,
      before: LogicalPlan,
      times: AttributeSet
  ): Seq[Expression] = {
    val known = before.constraints ++ conjuncts(before)
    (ExpressionSet(conjuncts(input)) -- known).toSeq.filter { c =>
      c.references.nonEmpty && c.references.intersect(times).isEmpty && StreamJoin.mayDemand(c)
    }
  }

  private def conjuncts(plan: LogicalPlan): Seq[Expression] = plan match {
    case Filter(c, child) => splitConjunctivePredicates(c) ++ conjuncts(child)
    case _                => Nil
  }

  /**
   * Equal values may differ, for example in collation or as -0.0 and 0.0. Then a predicate on one
   * does not hold for the other.
   */
  private def replaceable(conjunct: Expression): Seq[Expression] = conjunct match {
    case EqualTo(l, r) if !isExact(l.dataType) => Seq(IsNotNull(l), IsNotNull(r))
    case other                                 => Seq(other)
  }

  private def isExact(dataType: DataType): Boolean =
    UnsafeRowUtils.isBinaryStable(dataType) && !dataType.existsRecursively {
      case FloatType | DoubleType => true
      case _                      => false
    }

  /** Replaces joins of this project by joins of Spark, which have constraints. */
  private def asSparks(plan: LogicalPlan): LogicalPlan = plan.mapChildren(asSparks) match {
    case j: StreamJoin => asSparks(j)
    case other         => other
  }

  private def asSparks(j: StreamJoin): Join =
    Join(j.left, j.right, JoinTypes.ofSpark(j.joinType), Some(j.condition), JoinHint.NONE)
}
