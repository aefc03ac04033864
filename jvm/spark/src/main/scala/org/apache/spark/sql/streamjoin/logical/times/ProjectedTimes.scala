package org.apache.spark.sql.streamjoin.logical.times

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.types.{DataType, LongType, StructType}

import io.streamjoin.watermark.WatermarkPlan

/**
 * Derives the event times in the output of a projection.
 *
 * Spark's optimizer merges projections and splits structs. So a value has the same watermark with
 * and without the struct around it:
 *
 * {{{
 *   SELECT w.end AS e, s.a AS t FROM (SELECT window(t, ...) AS w, struct(t AS a) AS s FROM ...)
 *   SELECT (t - (t % ...) + ...) AS e, t FROM ...
 * }}}
 *
 * A field of a struct column has a separate ID, which is derived from the ID of the column. The end
 * of a window has the ID of the window, which counts as the time of its end.
 *
 * @param watermarks watermarks of the input columns
 * @param lengthsBelow lengths of those input columns that are windows of fixed length
 * @param hasFields whether any input property refers to a field of a struct
 */
private[times] final class ProjectedTimes(
    watermarks: Map[ExprId, WatermarkPlan],
    lengthsBelow: Map[ExprId, Long],
    hasFields: Boolean
) {
  import ProjectedTimes._

  /**
   * For each value that an expression passes on unchanged, its ID in the input and its ID in the
   * output.
   */
  def passed(e: NamedExpression): Seq[(ExprId, ExprId)] =
    values(e, e.exprId, _ => false).flatMap { case (value, to) =>
      origins(value).flatMap(renamed(_, to, value.dataType))
    }

  /** Maps the IDs of a column, and of its fields if they are known, to those of an equal column. */
  def renamed(from: ExprId, to: ExprId, dataType: DataType): Seq[(ExprId, ExprId)] =
    if (!hasFields) Seq(from -> to)
    else withFields(from, to, dataType).map { case (own, other, _) => own -> other }

  /** The watermarks of windows that an expression creates, and of their ends. */
  def computed(e: NamedExpression): Seq[(ExprId, WatermarkPlan)] =
    values(e, e.exprId, TimeUnit.isWindow).flatMap {
      case (w: CreateNamedStruct, to) => windowEnd(w.valExprs(1)).map(to -> _)
      case (value, to)                => windowEnd(value).map(to -> _)
    }

  /** Whether an expression is a window or session of an event time, or the `window_time` of one. */
  def isOfWindow(e: Expression): Boolean = plain(e) match {
    case window @ (_: CreateNamedStruct | _: PreciseTimestampConversion) => window.exists {
        case PreciseTimestampConversion(time, _, LongType) => watermark(time).nonEmpty
        case _                                             => false
      }
    case _ => false
  }

  /** The lengths of windows that an expression creates or passes on. */
  def lengths(e: NamedExpression): Seq[(ExprId, Long)] =
    values(e, e.exprId, TimeUnit.isWindow).flatMap {
      case (w: CreateNamedStruct, to) => length(w).map(to -> _).toSeq
      case _ if lengthsBelow.isEmpty  => Nil
      case (value, to) =>
        for {
          origin <- origins(value)
          (from, window, of) <- withFields(origin, to, value.dataType) if TimeUnit.isWindow(of)
          length <- lengthsBelow.get(from)
        } yield window -> length
    }

  def length(window: Expression): Option[Long] = plain(window) match {
    case w: CreateNamedStruct =>
      WindowArithmetic.length(plain(w.valExprs.head), plain(w.valExprs(1)))
    case _ => None
  }

  private def windowEnd(e: Expression): Option[WatermarkPlan] = for {
    time <- WindowArithmetic.timeOfEnd(plain(e))
    plan <- watermark(time)
  } yield WatermarkPlan.windowEnd(plan)

  private def watermark(time: Expression): Option[WatermarkPlan] =
    origins(plain(time)).flatMap(watermarks.get).headOption.orElse(windowEnd(time))
}

private[times] object ProjectedTimes {

  /** The ID of a field of a struct column. */
  private def field(column: ExprId, ordinal: Int): ExprId = {
    val name = s"${column.jvmId}/${column.id}/$ordinal"
    ExprId(ordinal, UUID.nameUUIDFromBytes(name.getBytes(UTF_8)))
  }

  /** Whether it is the ID of a field. Spark's IDs of columns have random UUIDs. */
  def isField(id: ExprId): Boolean = id.jvmId.version == 3

  /** The IDs of a column and of all its fields, with those of an equal column and the types. */
  private def withFields(
      from: ExprId,
      to: ExprId,
      dataType: DataType
  ): Seq[(ExprId, ExprId, DataType)] =
    (from, to, dataType) +: (dataType match {
      case StructType(fields) =>
        fields.toSeq.zipWithIndex.flatMap { case (f, i) =>
          withFields(field(from, i), field(to, i), f.dataType)
        }
      case _ => Nil
    })

  /**
   * The value of an expression with its ID, or the values of a new struct with those of its fields.
   *
   * @param isWhole whether a struct of a type counts as a value
   */
  private def values(
      e: Expression,
      to: ExprId,
      isWhole: DataType => Boolean
  ): Seq[(Expression, ExprId)] = plain(e) match {
    case s: CreateNamedStruct if !isWhole(s.dataType) =>
      s.valExprs.zipWithIndex.flatMap { case (value, i) => values(value, field(to, i), isWhole) }
    case value => Seq(value -> to)
  }

  /**
   * Removes aliases, marks and casts that do not change the value. Replaces a field of a new struct
   * by the value of the field.
   */
  private def plain(e: Expression): Expression = e match {
    case Alias(child, _)                                      => plain(child)
    case t: TaggingExpression                                 => plain(t.child)
    case c: Cast if isUnchanged(c.child.dataType, c.dataType) => plain(c.child)
    case u: UpdateFields                                      => plain(u.evalExpr)
    case g: GetStructField =>
      plain(g.child) match {
        case s: CreateNamedStruct => plain(s.valExprs(g.ordinal))
        case child                => GetStructField(child, g.ordinal)
      }
    case _ => e
  }

  private def isUnchanged(from: DataType, to: DataType): Boolean =
    from == to || TimeUnit.widens(from, to)

  /** The IDs of a column or of a field. */
  private def origins(plain: Expression): Seq[ExprId] = plain match {
    case a: Attribute => Seq(a.exprId)
    case GetStructField(child, ordinal, _) =>
      val whole = origins(child)
      val end = if (TimeUnit.isWindow(child.dataType) && ordinal == 1) whole else Nil
      end ++ whole.map(field(_, ordinal))
    case _ => Nil
  }
}
