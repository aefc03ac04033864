package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet, ExprId}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.EventTimeMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{JoinNode, StreamJoin}
import org.apache.spark.sql.streamjoin.logical.times.{SameColumn, TimeColumns}

/**
 * Analyzer rule that leaves one event time for Spark's deduplication above a join, which accepts no
 * more. All event times are restored above it.
 *
 * Any of them can evict its state, since Spark's watermark waits for all. The rule prefers a column
 * that no join pads, and among these a key of the deduplication.
 */
object OneEventTime extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case d: Deduplicate if several(d)                => seeing(d, chosen(d.keys, d.child))
    case d: DeduplicateWithinWatermark if several(d) => seeing(d, chosen(d.keys, d.child))
  }

  private def several(d: UnaryNode): Boolean = d.isStreaming &&
    EventTimeMarks.of(d.child.output).size > 1 && d.child.exists(_.isInstanceOf[StreamJoin])

  private def seeing(operator: UnaryNode, time: Attribute): LogicalPlan = {
    val all = EventTimeMarks.of(operator.child.output)
    val one = all.filter(_._1 == time.exprId)
    val below = EventTimeMarks.over(one, operator.child)
    val seen = operator.withNewChildren(Seq(below)).transformExpressions { case a: Attribute =>
      EventTimeMarks.marked(a, one)
    }
    EventTimeMarks.over(all, seen)
  }

  private def chosen(keys: Seq[Attribute], input: LogicalPlan): Attribute = {
    val padded = paddedBelow(input)
    input.output.filter(TimeColumns.isMarked)
      .minBy(a => (padded(a.exprId), !AttributeSet(keys).contains(a)))
  }

  /** The columns that a join below pads with NULL, possibly renamed. */
  private def paddedBelow(input: LogicalPlan): ExprId => Boolean = {
    val padded = input.collect { case j: JoinNode => j.padded }.flatten.map(_.exprId).toSet
    val names = input.collect { case p: Project => p.projectList }.flatten.collect {
      case a @ Alias(SameColumn(from), _) => a.exprId -> from.exprId
    }.toMap
    def isPadded(id: ExprId): Boolean = padded(id) || names.get(id).exists(isPadded)
    isPadded
  }
}
