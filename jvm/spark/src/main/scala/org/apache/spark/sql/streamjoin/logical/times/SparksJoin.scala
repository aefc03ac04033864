package org.apache.spark.sql.streamjoin.logical.times

import org.apache.spark.sql.catalyst.analysis.StreamingJoinHelper
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * Derives which times in the output of a stream-stream join of Spark have a valid watermark.
 *
 * Spark lowers the watermark that it propagates from its join by the time bounds of the join's
 * state. Without bounds, Spark propagates the watermark of the inputs, although the join stores all
 * rows. An emitted row may then have any age, and the watermark is not valid.
 *
 * The derivation calls the functions with which Spark plans the join. It passes them the condition
 * as Spark's optimizer will write it. If it finds no bounds, the join counts as unbounded.
 *
 * Source: Spark, `StreamingSymmetricHashJoinHelper.getStateWatermark`.
 */
private[streamjoin] object SparksJoin {

  def unapply(plan: LogicalPlan): Option[Join] = plan match {
    case j: Join if j.left.isStreaming && j.right.isStreaming => Some(j)
    case _                                                    => None
  }

  /** Whether Spark evicts the rows of both sides at some time. */
  def isBounded(join: Join): Boolean = keptTimes(join).nonEmpty

  /**
   * The input columns whose values in the output are never below the propagated watermark. None
   * unless Spark evicts the rows of both sides at some time.
   */
  def keptTimes(join: Join): AttributeSet =
    if (!join.resolved) AttributeSet.empty
    else
      AnalysisHelper.allowInvokingTransformsInAnalyzer {
        val columns = join.left.output ++ join.right.output
        val asked = join.copy(condition = join.condition.map(OptimizedCondition.of(_, columns)))
        byKey(asked).getOrElse(byBounds(asked))
      }

  /** A key with a watermark: Spark evicts rows of both sides by it, and ignores other bounds. */
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

  /** The column that Spark compares with its watermark. Spark supports at most one. */
  private def time(columns: Seq[Attribute]): Option[Attribute] =
    columns.filter(_.metadata.contains(EventTimeWatermark.delayKey)) match {
      case Seq(one) => Some(one)
      case _        => None
    }

  private def bounds(join: Join, side: Seq[Attribute], other: Seq[Attribute]): Boolean =
    StreamingJoinHelper
      .getStateValueWatermark(AttributeSet(side), AttributeSet(other), join.condition, Some(0L))
      .nonEmpty
}
