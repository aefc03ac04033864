package org.apache.spark.sql.streamjoin.logical.resolve.orders

import java.util.UUID

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_MILLIS
import org.apache.spark.sql.streamjoin.{ColumnNames, NearestWord}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ImposeOrder, UnresolvedImposeOrder}
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.WarnAtAnalysis
import org.apache.spark.sql.streamjoin.logical.resolve.shared.{Distance, Distances}
import org.apache.spark.sql.streamjoin.logical.times.{BatchTime, MaxAhead}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * Analyzer rule that builds the node for `IMPOSE_ORDER` when its input is resolved, or refuses the
 * column or the lag.
 *
 * A TIMESTAMP column also gets a watermark of Spark's, if the plan has none, for aggregations
 * above.
 */
object ResolveOrders extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformUp {
        case u: UnresolvedImposeOrder if u.childrenResolved && u.expressions.forall(_.resolved) =>
          new ImposeOrderBuilder(u, conf.resolver).build
      }
    }

  /**
   * Removes the node from a table, as Spark removes watermarks from batch queries. Spark must have
   * looked up names before: over Spark Connect, they refer to this node.
   */
  object OfTables extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan =
      AnalysisHelper.allowInvokingTransformsInAnalyzer {
        plan.transformUp {
          case o: ImposeOrder if o.child.resolved && !o.child.isStreaming =>
            o.child.setTagValue(WarnAtAnalysis.OrderOfTable, o.column.name)
            o.child
        }
      }
  }
}

/** Builds the node for a call whose input is resolved, or refuses the call. */
private final class ImposeOrderBuilder(u: UnresolvedImposeOrder, resolver: Resolver) {

  def build: ImposeOrder = {
    val ahead = u.ahead.map(word)
    val column = columnOf(u.column, invalid(u.column, _, _), meant)
    val unit = TimeUnit
      .of(column.dataType)
      .filterNot(_ => TimeUnit.isWindow(column.dataType))
      .getOrElse(
        throw StreamJoinErrors.analysis(
          "UNSUPPORTED_TIME_TYPE",
          u.origin,
          "column" -> column.name,
          "type" -> column.dataType.sql,
          "instead" -> made(column)
        )
      )
    val lag = new Distances("lag", column, u.origin).inUnits(Distance.of(u.lag))
    val idle = u.idleTimeout.map { timeout =>
      val distances = new Distances(
        "idle_timeout",
        column,
        u.origin,
        calendar = "does not define when the input is idle"
      )
      val distance = Distance.of(timeout)
      Math.floorDiv(distances.span(distance), MICROS_PER_MILLIS) match {
        case 0 =>
          throw distances.refusal(
            distance.text,
            "it is shorter than a millisecond, so the input would always be idle",
            "an interval such as '1 minute', or remove it"
          )
        case millis => millis
      }
    }
    val limit = maxAhead(column, unit, ahead)
    val per = u.per.map(groupColumn(column, _))
    val below = withSparkWatermark(column, lag)
    def above(a: Attribute) = below.output.find(_.exprId == a.exprId).get
    ImposeOrder(
      UUID.randomUUID(),
      above(column),
      lag,
      idle,
      per.map(above),
      imposed = true,
      limit,
      limit.map(_ => BatchTime.forType(column.dataType)),
      below
    )
  }

  /** Reads an option from an SQL expression. */
  private def word(e: Expression): String =
    if (e.foldable && e.dataType.isInstanceOf[StringType]) String.valueOf(e.eval())
    else throw StreamJoinErrors.wrongUse(u.origin, s"${e.sql} is not a constant string")

  /** @param ahead the handling of rows further ahead than the limit: `reject` or `keep` */
  private def maxAhead(
      column: Attribute,
      unit: TimeUnit,
      ahead: Option[String]
  ): Option[MaxAhead] = {
    val rejects = ahead.forall {
      case "reject" => true
      case "keep"   => false
      case other =>
        throw StreamJoinErrors.wrongUse(u.origin, s"ahead is 'reject' or 'keep', not '$other'")
    }
    if (ahead.nonEmpty && u.maxAhead.isEmpty) {
      throw StreamJoinErrors.wrongUse(
        u.origin,
        "ahead applies to rows further ahead than max_ahead, and max_ahead is not set"
      )
    }
    u.maxAhead.map(Distance.of(_)).map { most =>
      val distances = new Distances(
        "max_ahead",
        column,
        u.origin,
        calendar = "does not bound how far ahead of the clock a time may be"
      )
      if (unit == TimeUnit.Number) {
        throw distances.refusal(
          most.text,
          "numbers cannot be compared with a clock",
          s"max_ahead for a column of times, such as timestamp_millis(${column.name}), or remove it"
        )
      }
      MaxAhead(distances.span(most), rejects)
    }
  }

  /** A column of `per`. Its values are compared as text. */
  private def groupColumn(time: Attribute, name: Seq[String]): Attribute = {
    def refused(reason: String, instead: String) =
      invalid(name, s"$reason. It is a column of per", instead)
    val found = columnOf(name, refused, "Name columns of the input in per")
    found.dataType match {
      case _ if found.exprId == time.exprId =>
        throw refused(
          "it is the event time itself",
          "Name the columns that identify a source of rows, such as the partition"
        )
      case _: StringType | BooleanType | DateType | TimestampType | TimestampNTZType |
          _: NumericType =>
        found
      case unsupported =>
        throw refused(
          s"a ${unsupported.sql} cannot identify a group of rows",
          "Name columns of strings, numbers, booleans or times"
        )
    }
  }

  private def invalid(column: Seq[String], reason: String, instead: String) =
    StreamJoinErrors.analysis(
      "INVALID_COLUMN",
      u.origin,
      "column" -> ColumnNames.written(column),
      "reason" -> reason,
      "columns" -> u.child.output.map(ColumnNames.of).mkString(", "),
      "instead" -> instead
    )

  private def columnOf(
      column: Seq[String],
      refused: (String, String) => Throwable,
      meant: => String
  ): Attribute = u.child.resolve(column, resolver) match {
    case Some(a: Attribute) => a
    case Some(_) =>
      val alias = ColumnNames.written(column.takeRight(1))
      throw refused(
        "it is a field inside a column, not a column",
        "Select it as a separate column below the order: select " +
          s"${ColumnNames.written(column)} AS $alias"
      )
    case None => throw refused("the input has no such column", meant)
  }

  private def withSparkWatermark(column: Attribute, lag: Long): LogicalPlan = {
    val taken = u.child.exists(_.isInstanceOf[EventTimeWatermark]) || !u.child.isStreaming
    if (column.dataType != TimestampType || taken) u.child
    else EventTimeWatermark(UUID.randomUUID(), column, new CalendarInterval(0, 0, lag), u.child)
  }

  // ---- advice for a column that cannot be an event time, without the last full stop ----

  /** How to convert a column of another type to an event time, or the field of it that is one. */
  private def made(column: Attribute): String = {
    val name = ColumnNames.written(Seq(column.name))
    def below(expression: String) =
      s"Compute a time from it below the order: select $expression AS $name, or another name"
    column.dataType match {
      case _: StringType => below(s"to_timestamp($name)")
      case DoubleType | FloatType =>
        below(s"timestamp_micros(CAST($name * 1000000 AS BIGINT)) (of seconds)")
      case _: DecimalType => below(s"timestamp_seconds($name) (of seconds)")
      case BinaryType     => below(s"to_timestamp(CAST($name AS STRING))")
      case s: StructType =>
        s.fields.find(f => TimeUnit.of(f.dataType).nonEmpty).fold(other) { field =>
          val inside = ColumnNames.written(Seq(column.name, field.name))
          s"Select a field as a separate column below the order: select $inside AS " +
            ColumnNames.written(Seq(field.name))
        }
      case _ => other
    }
  }

  private val other = "Impose the order on a column of one of these types"

  /** The columns with a similar name, or else the columns with a suitable type. */
  private def meant: String = {
    val times = u.child.output.filter(a => TimeUnit.of(a.dataType).nonEmpty)
    if (times.isEmpty) "None of these columns has a type that can have an order. See to_timestamp"
    else {
      NearestWord.of(u.column.last, times.map(_.name)).fold(
        "These columns have a type that can have an order: " +
          s"${times.map(ColumnNames.of).mkString(", ")}"
      )(name => s"Perhaps write ${ColumnNames.written(Seq(name))}")
    }
  }
}
