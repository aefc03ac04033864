package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.streamjoin.logical.plan.{EventTimeMarks, NamedTime}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.AliasedColumn
import org.apache.spark.sql.streamjoin.logical.plan.options.{JoinOptions, LateRows}
import org.apache.spark.sql.streamjoin.logical.times.{BaseColumn, TimeColumns}
import org.apache.spark.sql.types.TimestampType

import io.streamjoin.model.{BySide, JoinType, Side, Watermarks}

/**
 * Logical node of the event-time join of two streams.
 *
 * @param condition the whole condition, with time bounds and conjuncts on one input
 * @param timed the event-time columns of both inputs; required even if the query does not read
 *   them, because they decide which rows are late
 * @param options the options of the join in the query
 * @param late the late rows that it emits; none: it drops late rows
 * @param aliased the columns of the condition with their aliases in the query
 */
case class StreamJoin(
    left: LogicalPlan,
    right: LogicalPlan,
    joinType: JoinType,
    condition: Expression,
    timed: Seq[NamedTime],
    override val options: JoinOptions = JoinOptions(),
    override val late: Option[LateRows] = None,
    aliased: Seq[AliasedColumn] = Nil
) extends JoinNode {

  override def kind: JoinKind = JoinKind.EventTime

  override def output: Seq[Attribute] =
    emittedWithLate(BySide(left.output, right.output))(markedAsTime)

  /**
   * Aligns Spark's event-time mark with the watermark above the join: removes it from a column
   * without one, and restores it if a cast has removed it.
   */
  private def markedAsTime(a: Attribute): Attribute = {
    val marked = TimeColumns.isMarked(a)
    if (!resolved) a
    else if (marked && !analysis.output.isWatermarked(a)) EventTimeMarks.unmarked(a)
    else if (!marked && knownToSpark.contains(a)) {
      EventTimeMarks.marked(a, Map(a.exprId -> 0L))
    } else a
  }

  @transient private lazy val knownToSpark: AttributeSet = {
    val besideSparks = BaseColumn.besideSparks(analysis.bases)
    AttributeSet(times.filter { t =>
      t.dataType == TimestampType && analysis.output.columns.get(t.exprId)
        .exists(_.eval(besideSparks) != Watermarks.Unknown)
    })
  }

  /** The columns of `times` that one input has. */
  private[streamjoin] def timesOf(side: Side): Seq[Attribute] =
    times.filter(input(side).outputSet.contains)

  override def timeColumns: TimeColumns = analysis.output

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan
  ): StreamJoin = copy(left = newLeft, right = newRight)
}

object StreamJoin {

  /** Whether a conjunct of WHERE may be moved into the condition of a join, or below the join. */
  private[streamjoin] def mayDemand(part: Expression): Boolean =
    part.deterministic && !part.containsPattern(CURRENT_LIKE) && !part.exists {
      case _: SubqueryExpression | _: PythonFuncExpression | _: OuterReference => true
      case _                                                                   => false
    }
}
