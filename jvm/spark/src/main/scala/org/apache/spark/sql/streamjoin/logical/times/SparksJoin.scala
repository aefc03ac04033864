package org.apache.spark.sql.streamjoin.logical.times

import org.apache.spark.sql.catalyst.analysis.StreamingJoinHelper
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.conditions.PlainCondition
import org.apache.spark.sql.streamjoin.spark.{
  BooleanSimplification,
  ConstantFolding,
  ReplaceExpressions
}

/**
 * What can be relied on of a join of two streams that Spark runs itself.
 *
 * The watermark that Spark propagates from it is held back by what bounds its state. Where nothing
 * does, it is that of the inputs as if the join kept no row, though it keeps them all: a row that
 * comes out may then be of any age, and the watermark says nothing of it.
 *
 * Asks what Spark asks when it plans the join, of the condition as its optimizer will leave it; where
 * that is not found out here, the answer is no.
 *
 * Source: Spark, `StreamingSymmetricHashJoinHelper.getStateWatermark`.
 */
private[streamjoin] object SparksJoin {

  def unapply(plan: LogicalPlan): Option[Join] = plan match {
    case j: Join if j.left.isStreaming && j.right.isStreaming => Some(j)
    case _                                                    => None
  }

  /** Whether Spark lets go of the rows of both sides at some time. */
  def isBounded(join: Join): Boolean = keptTimes(join).nonEmpty

  /**
   * The columns of the inputs that are never below the propagated watermark when they come out; none
   * unless the rows of both sides go at some time.
   */
  def keptTimes(join: Join): AttributeSet =
    if (!join.resolved) AttributeSet.empty
    else
      AnalysisHelper.allowInvokingTransformsInAnalyzer {
        val asked = join.copy(condition = join.condition.map(optimized(_, join)))
        byKey(asked).getOrElse(byBounds(asked))
      }

  /** A key with a watermark: Spark removes rows of both sides by it, and looks at nothing else. */
  private def byKey(join: Join): Option[AttributeSet] =
    ExtractEquiJoinKeys.unapply(join).flatMap { case (_, left, right, _, _, _, _, _) =>
      def marked(keys: Seq[Expression]) = keys.indexWhere {
        case a: NamedExpression => a.metadata.contains(EventTimeWatermark.delayKey)
        case _                  => false
      }
      Seq(left, right).map(marked).find(_ >= 0).map { i =>
        val keys = Seq(left(i), right(i)).flatMap(SameColumn.unapply)
        AttributeSet(keys.filter(_.metadata.contains(EventTimeWatermark.delayKey)))
      }
    }

  private def byBounds(join: Join): AttributeSet = {
    val (left, right) = (join.left.output, join.right.output)
    (time(left), time(right)) match {
      case (Some(l), Some(r)) if bounds(join, left, right) && bounds(join, right, left) =>
        AttributeSet(Seq(l, r))
      case _ => AttributeSet.empty
    }
  }

  /** The column by which Spark compares rows with its watermark. It wants one at most. */
  private def time(columns: Seq[Attribute]): Option[Attribute] =
    columns.filter(_.metadata.contains(EventTimeWatermark.delayKey)) match {
      case Seq(one) => Some(one)
      case _        => None
    }

  private def bounds(join: Join, side: Seq[Attribute], other: Seq[Attribute]): Boolean =
    StreamingJoinHelper
      .getStateValueWatermark(AttributeSet(side), AttributeSet(other), join.condition, Some(0L))
      .nonEmpty

  /** As the optimizer writes it, with the columns of the inputs as they come from there. */
  private def optimized(condition: Expression, join: Join): Expression = {
    val columns = join.left.output ++ join.right.output
    val plain = InputColumns.in(PlainCondition.of(condition), columns)
    val rules = Seq(ReplaceExpressions, ConstantFolding, BooleanSimplification)
    rules.foldLeft[LogicalPlan](Filter(plain, LocalRelation(columns)))((p, rule) => rule(p)) match {
      case Filter(c, _) => c
      case _            => plain
    }
  }
}
