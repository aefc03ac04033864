package org.apache.spark.sql.streamjoin.logical.resolve

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, Join, LogicalPlan}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_MILLIS
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.optimize.InputFilters
import org.apache.spark.sql.streamjoin.logical.plan.{
  ImposeOrder,
  JoinOptions,
  StreamJoin,
  StreamJoinHint,
  StreamJoinInput
}
import org.apache.spark.sql.streamjoin.logical.times.{DistinctAttributes, TimeColumns}
import org.apache.spark.sql.types.TimestampType

import io.streamjoin.model.Side

/** Makes a [[StreamJoin]] of a join that Spark has resolved, or refuses it. */
private[streamjoin] object StreamJoinBuilder {

  /**
   * @param retained whether a retention may bound what the condition does not
   * @param late the column by which late rows are to come out
   * @param sharedKeys the equalities of a join by column names, where late rows come out
   */
  def build(
      join: Join,
      retained: Boolean = true,
      late: Option[Attribute] = None,
      sharedKeys: Seq[Expression] = Nil
  ): StreamJoin = {
    join.children.foreach(PlaceWindows.check)
    val options = StreamJoinHint.on(join).getOrElse(JoinOptions())
    val inputs = StreamJoinHint.changed(join)(_.child)
    val left = StreamJoinInput.of(keyed(DistinctAttributes.keep(inputs.left, inputs.right)))
    val right = StreamJoinInput.of(keyed(DistinctAttributes.keep(inputs.right, inputs.left)))
    val joinType = StreamJoin
      .typeOf(join.joinType)
      .getOrElse(throw StreamJoinErrors.unsupportedJoinType(join.origin, join.joinType.sql))
    val times = Seq(left, right).flatMap(p => p.output.filter(TimeColumns.of(p).isWatermarked))
    val condition = plain(join.condition.getOrElse(Literal.TrueLiteral))
    val written = StreamJoin(
      left,
      right,
      joinType,
      condition,
      times,
      times.map { a =>
        val side = if (left.outputSet.contains(a)) Side.Left else Side.Right
        ColumnNames.among(
          left.output ++ right.output,
          a
        ).getOrElse(s"${side.name}.${ColumnNames.of(a)}")
      },
      options,
      late,
      if (late.isEmpty) Nil else Seq(left, right).flatMap(LateRows.columns),
      sharedKeys
    )
    val built = if (retained) Retention.limit(written) else written
    built.copyTagsFrom(join)
    Changelogs.refuse(built)
    LateRows.check(built)
    JoinRefusals.check(built)
    val filtered = InputFilters.place(built)
    filtered.copyTagsFrom(built)
    filtered
  }

  /** Spark's own watermarks as keyed ones, so that there is one way in which they are followed. */
  def keyed(plan: LogicalPlan): LogicalPlan = plan match {
    case o: ImposeOrder =>
      o.child match {
        case w: EventTimeWatermark if w.eventTime.exprId == o.column.exprId =>
          o.withNewChildren(Seq(w.mapChildren(keyed)))
        case _ => o.mapChildren(keyed)
      }
    case w @ EventTimeWatermark(_, column, delay, _) if column.dataType == TimestampType =>
      val lag = EventTimeWatermark.getDelayMs(delay) * MICROS_PER_MILLIS
      ImposeOrder(
        UUID.randomUUID(),
        column,
        lag,
        None,
        imposed = false,
        maxAhead = None,
        batchTime = None,
        w.mapChildren(keyed)
      )
    case j: StreamJoin => j
    case other         => other.mapChildren(keyed)
  }

  /**
   * BETWEEN as the two comparisons it stands for: each can be a bound by itself. They are those that
   * Spark has resolved, with the casts between operands of different types. A part that was given a
   * name, as a Column may be, has none any more.
   */
  def plain(condition: Expression): Expression = condition.transformUp {
    case Alias(part, _)                => part
    case b: Between if b.deterministic => b.replacement
    case w: With if w.deterministic =>
      w.child.transform { case r: CommonExpressionRef =>
        w.defs.find(_.id == r.id).fold[Expression](r)(_.child)
      }
  }
}
