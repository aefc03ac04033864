package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.streamjoin.logical.plan.{JoinTypes, StreamJoin, StreamJoinInput}
import org.apache.spark.sql.streamjoin.spark.{
  InferFiltersFromConstraints,
  PushExtraPredicateThroughJoin,
  PushPredicateThroughJoin
}
import org.apache.spark.sql.types.{DataType, DoubleType, FloatType}

import io.streamjoin.model.Side

/**
 * Filters on the inputs of a join that follow from its condition, and from what the other input
 * promises: rows that fail them can match nothing, and are not shuffled to find that out.
 *
 * What follows is asked of Spark's rules, with a join of Spark's over leaves as a stand-in. What
 * concerns event times stays out of it: the join itself counts rows that are late or lack a time. A
 * row without a time gets there without a key, too: what a parser made nothing of lacks both.
 */
private[logical] object InputFilters extends PredicateHelper {

  /** An input of which no more is known than its columns, and what holds for each of its rows. */
  final case class Leaf(output: Seq[Attribute])(promises: ExpressionSet) extends LeafNode {
    override protected lazy val validConstraints: ExpressionSet = promises
    override protected def otherCopyArgs: Seq[AnyRef] = Seq(promises)
  }

  /**
   * The join with such filters on its inputs.
   *
   * For a query as it is analysed: the optimizer looks at one batch, and what an input promises there
   * need not hold for the rows of another. None where late rows come out: those that can match nothing
   * are among them.
   */
  def place(join: StreamJoin): StreamJoin = if (join.late.nonEmpty) join else placed(join)

  private def placed(join: StreamJoin): StreamJoin = {
    def leaf(input: LogicalPlan) = Leaf(input.output)(asSparks(input).constraints)
    val (onLeft, onRight) =
      of(asSparks(join.copy(left = leaf(join.left), right = leaf(join.right))), join)
    join.copy(left = filtered(join.left, onLeft), right = filtered(join.right, onRight))
  }

  /**
   * What rows of the left and of the right input must satisfy beyond what they are known to.
   *
   * @param join the stand-in, with the whole condition
   * @param ours the join that it stands for
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

  /** Of the demands that a value is there, what lets rows through that the join counts for want of a time. */
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

  /** Of values that are equal and yet differ, what holds for the one need not hold for the other. */
  private def replaceable(conjunct: Expression): Seq[Expression] = conjunct match {
    case EqualTo(l, r) if !isExact(l.dataType) => Seq(IsNotNull(l), IsNotNull(r))
    case other                                 => Seq(other)
  }

  private def isExact(dataType: DataType): Boolean =
    UnsafeRowUtils.isBinaryStable(dataType) && !dataType.existsRecursively {
      case FloatType | DoubleType => true
      case _                      => false
    }

  /** With joins of Spark's, which say what holds for their rows. */
  private def asSparks(plan: LogicalPlan): LogicalPlan = plan.mapChildren(asSparks) match {
    case j: StreamJoin => asSparks(j)
    case other         => other
  }

  private def asSparks(j: StreamJoin): Join =
    Join(j.left, j.right, JoinTypes.ofSpark(j.joinType), Some(j.condition), JoinHint.NONE)
}
