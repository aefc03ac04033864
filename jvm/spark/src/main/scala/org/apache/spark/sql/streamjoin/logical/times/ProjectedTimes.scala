package org.apache.spark.sql.streamjoin.logical.times

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.types.{DataType, StructType}

import io.streamjoin.watermark.WatermarkPlan

/**
 * What becomes of event times in the expressions of a projection.
 *
 * Spark's optimizer merges projections and takes structs apart. So a value has the same watermark whether
 * it is read from a field of a struct, or the struct is not there any more:
 *
 * {{{
 *   SELECT w.end AS e, s.a AS t FROM (SELECT window(t, ...) AS w, struct(t AS a) AS s FROM ...)
 *   SELECT (t - (t % ...) + ...) AS e, t FROM ...
 * }}}
 *
 * A field of a struct column has an identity of its own, which follows from that of the column. The end of
 * a window has that of the window, which counts as the time of its end.
 *
 * @param watermarks of the columns below
 * @param lengthsBelow of those that are windows of one length
 * @param hasFields whether anything is known of a field of a struct below
 */
private[times] final class ProjectedTimes(
    watermarks: Map[ExprId, WatermarkPlan],
    lengthsBelow: Map[ExprId, Long],
    hasFields: Boolean
) {
  import ProjectedTimes._

  /** Where a value comes from that an expression passes on unchanged, and what it is called from there on. */
  def passed(e: NamedExpression): Seq[(ExprId, ExprId)] = passed(e, e.exprId)

  private def passed(e: Expression, to: ExprId): Seq[(ExprId, ExprId)] = plain(e) match {
    case s: CreateNamedStruct => fieldsOf(s, to).flatMap { case (v, field) => passed(v, field) }
    case value                => origins(value).flatMap(renamed(_, to, value.dataType))
  }

  /** A column, and all fields in it of which something may be known, with those of another that holds the same. */
  def renamed(from: ExprId, to: ExprId, dataType: DataType): Seq[(ExprId, ExprId)] =
    if (hasFields) withFields(from, to, dataType) else Seq(from -> to)

  /** The watermarks of windows that an expression makes, and of their ends. */
  def computed(e: NamedExpression): Seq[(ExprId, WatermarkPlan)] = computed(e, e.exprId)

  private def computed(e: Expression, to: ExprId): Seq[(ExprId, WatermarkPlan)] = plain(e) match {
    case w: CreateNamedStruct if TimeUnit.isWindow(w.dataType) =>
      windowEnd(w.valExprs(1)).map(to -> _).toSeq
    case s: CreateNamedStruct => fieldsOf(s, to).flatMap { case (v, field) => computed(v, field) }
    case value                => windowEnd(value).map(to -> _).toSeq
  }

  /** The lengths of windows that an expression makes or passes on. */
  def lengths(e: NamedExpression): Seq[(ExprId, Long)] = lengths(e, e.exprId)

  private def lengths(e: Expression, to: ExprId): Seq[(ExprId, Long)] = plain(e) match {
    case w: CreateNamedStruct if TimeUnit.isWindow(w.dataType) => length(w).map(to -> _).toSeq
    case s: CreateNamedStruct => fieldsOf(s, to).flatMap { case (v, field) => lengths(v, field) }
    case _ if lengthsBelow.isEmpty => Nil
    case value =>
      for {
        origin <- origins(value)
        (from, window) <- windows(origin, to, value.dataType)
        length <- lengthsBelow.get(from)
      } yield window -> length
  }

  def length(window: Expression): Option[Long] = plain(window) match {
    case w: CreateNamedStruct =>
      WindowArithmetic.length(plain(w.valExprs.head), plain(w.valExprs(1)))
    case _ => None
  }

  private def fieldsOf(s: CreateNamedStruct, to: ExprId): Seq[(Expression, ExprId)] =
    s.valExprs.zipWithIndex.map { case (value, i) => value -> field(to, i) }

  private def windowEnd(e: Expression): Option[WatermarkPlan] = for {
    time <- WindowArithmetic.timeOfEnd(plain(e))
    plan <- watermark(time)
  } yield WatermarkPlan.WindowEnd(plan)

  private def watermark(time: Expression): Option[WatermarkPlan] =
    origins(plain(time)).flatMap(watermarks.get).headOption.orElse(windowEnd(time))
}

private[times] object ProjectedTimes {

  /** The identity of a field of a struct column. */
  private def field(column: ExprId, ordinal: Int): ExprId = {
    val name = s"${column.jvmId}/${column.id}/$ordinal"
    ExprId(ordinal, UUID.nameUUIDFromBytes(name.getBytes(UTF_8)))
  }

  /** Whether it is the identity of a field: those of columns are random. */
  def isField(id: ExprId): Boolean = id.jvmId.version == 3

  /** The identities of a column and of all fields in it, with those of another that holds the same. */
  private def withFields(from: ExprId, to: ExprId, dataType: DataType): Seq[(ExprId, ExprId)] =
    (from -> to) +: (dataType match {
      case StructType(fields) =>
        fields.toSeq.zipWithIndex.flatMap { case (f, i) =>
          withFields(field(from, i), field(to, i), f.dataType)
        }
      case _ => Nil
    })

  /** The same of the windows alone. */
  private def windows(from: ExprId, to: ExprId, dataType: DataType): Seq[(ExprId, ExprId)] =
    dataType match {
      case window if TimeUnit.isWindow(window) => Seq(from -> to)
      case StructType(fields) =>
        fields.toSeq.zipWithIndex.flatMap { case (f, i) =>
          windows(field(from, i), field(to, i), f.dataType)
        }
      case _ => Nil
    }

  /** Without names, marks and casts that change no value, and without structs of which one field is read. */
  private def plain(e: Expression): Expression = e match {
    case Alias(child, _)                                      => plain(child)
    case KnownNullable(child)                                 => plain(child)
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

  /** The identities that a column, or a field of one, may be known by. */
  private def origins(plain: Expression): Seq[ExprId] = plain match {
    case a: Attribute => Seq(a.exprId)
    case GetStructField(child, ordinal, _) =>
      val whole = origins(child)
      val end = if (TimeUnit.isWindow(child.dataType) && ordinal == 1) whole else Nil
      end ++ whole.map(field(_, ordinal))
    case _ => Nil
  }
}
