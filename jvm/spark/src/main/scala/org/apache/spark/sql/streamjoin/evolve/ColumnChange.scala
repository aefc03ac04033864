package org.apache.spark.sql.streamjoin.evolve

import java.time.OffsetDateTime

import org.apache.spark.sql.catalyst.expressions.{
  ArrayTransform,
  Attribute,
  BoundReference,
  Cast,
  Coalesce,
  CreateNamedStruct,
  EvalMode,
  Expression,
  GetStructField,
  If,
  IsNotNull,
  IsNull,
  LambdaFunction,
  Literal,
  NamedLambdaVariable,
  Or,
  TransformValues
}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types._

import scala.util.Try
import scala.util.matching.Regex

/**
 * A stored column, before and after the change.
 *
 * @param now the column; none: it is removed
 * @param before the column of the checkpoint; none: it is added
 * @param value the value of a stored row
 * @param gets what a stored row gets
 */
private[evolve] final case class ColumnChange(
    now: Option[Attribute],
    before: Option[StructField],
    value: Expression,
    gets: String
) {

  /** Whether the value has a part that no stored row had. */
  def addsValues: Boolean = now.exists { column =>
    before.map(_.dataType).forall {
      case nested @ (_: StructType | _: ArrayType | _: MapType) =>
        !DataTypeUtils.sameType(nested, column.dataType)
      case _ => false
    }
  }
}

/**
 * Finds how the columns of the stored rows of an input change.
 *
 * @param rename the new names of columns, by their old ones
 * @param fill by the names of columns, the values of added ones, and those instead of NULL in columns
 *   that are never NULL in the changed query
 * @param same whether two names are equal, as the session compares them
 */
private[evolve] final class ColumnChanges(
    rename: Map[String, String],
    fill: Map[String, Any],
    zone: String,
    same: (String, String) => Boolean,
    refuse: (String, Seq[(String, String)]) => Throwable
) {

  /** The new name of an old column. */
  def renamed(name: String): String =
    rename.collectFirst { case (old, now) if same(old, name) => now }.getOrElse(name)

  /** A text of a description with the new names of columns. */
  def renamedIn(text: String): String =
    if (rename.isEmpty) text
    else s"\\b(?:${rename.keys.map(Regex.quote).mkString("|")})\\b".r
      .replaceAllIn(text, found => Regex.quoteReplacement(renamed(found.matched)))

  /**
   * @param required the columns of keys and event times. Stored rows must have a value of each
   * @return the columns of the query in their order, then the removed ones
   */
  def of(
      stored: StoredInput,
      changed: ChangedInput,
      required: Seq[Attribute]
  ): Seq[ColumnChange] = {
    val before = stored.rows
    val places = new ColumnPlaces(stored, changed, renamed, same, refuse)
    val found = changed.columns.map(column => column -> places.of(column))
    val changes = found.map {
      case (column, Some(at)) => kept(column, before(at), at)
      case (column, None) =>
        val change = added(column, required.exists(_.exprId == column.exprId))
        change.copy(value = exceptPadded(column, change.value, found, before, changed.sourceOf))
    }
    val removed = before.indices.diff(found.flatMap(_._2)).map { at =>
      ColumnChange(None, Some(before(at)), Literal(null), "removed")
    }
    changes ++ removed
  }

  /**
   * A value of rows that are not padded for the input of a column. An outer join below has padded
   * those whose other columns of this input are all NULL, if the stored rows have other inputs.
   */
  private def exceptPadded(
      column: Attribute,
      value: Expression,
      found: Seq[(Attribute, Option[Int])],
      before: StructType,
      sourceOf: Attribute => Option[Int]
  ): Expression = {
    val (beside, others) = found.collect { case (c, Some(at)) => (sourceOf(c), at) }
      .partition(_._1 == sourceOf(column))
    val known = beside.map { case (_, at) =>
      IsNotNull(BoundReference(at, before(at).dataType, nullable = true)): Expression
    }
    if (others.isEmpty || sourceOf(column).isEmpty) value
    else known.reduceOption(Or).fold(value)(If(_, value, Literal(null, column.dataType)))
  }

  private def kept(column: Attribute, field: StructField, at: Int): ColumnChange = {
    val stored = BoundReference(at, field.dataType, nullable = true)
    val gets = stored.dataType match {
      case was if DataTypeUtils.sameType(was, column.dataType) => "the same"
      case _: StructType | _: ArrayType | _: MapType           => "the same, by field"
      case _                                                   => "the same, cast"
    }
    val now = converted(stored, column.dataType).getOrElse(
      throw refuse(
        "OTHER_TYPE",
        Seq(
          "column" -> column.name,
          "before" -> field.dataType.sql,
          "now" -> column.dataType.sql
        )
      )
    )
    def change(value: Expression, gets: String) =
      ColumnChange(Some(column), Some(field), value, gets)
    // the value may be that of an added column of another input
    val instead = if (column.nullable) None else filled(column)
    instead.fold(change(now, gets)) { case (value, text) =>
      change(Coalesce(Seq(now, value)), s"$gets; not NULL, but $text")
    }
  }

  /**
   * A value in another type, if the type has each value, also each NULL in a field or an element.
   * An added field of a struct is NULL.
   */
  private def converted(value: Expression, to: DataType): Option[Expression] =
    (value.dataType, to) match {
      case (from, _)
          if DataTypeUtils.sameType(from, to) &&
            DataType.equalsIgnoreNameAndCompatibleNullability(from, to) => Some(value)
      case (from: StructType, to: StructType) =>
        val fields = to.map { field =>
          from.indices.find(i => same(from(i).name, field.name)) match {
            case Some(i) if from(i).nullable && !field.nullable => None
            case Some(i) => converted(GetStructField(value, i), field.dataType)
            case None    => Option.when(field.nullable)(Literal(null, field.dataType))
          }
        }
        Option.when(fields.forall(_.nonEmpty)) {
          val named = to.map(field => Literal(field.name)).zip(fields.flatten)
          val struct = CreateNamedStruct(named.flatMap { case (name, field) => Seq(name, field) })
          If(IsNull(value), Literal(null, struct.dataType), struct)
        }
      case (from: ArrayType, to: ArrayType) if to.containsNull || !from.containsNull =>
        val element = NamedLambdaVariable("element", from.elementType, from.containsNull)
        converted(element, to.elementType)
          .map(each => ArrayTransform(value, LambdaFunction(each, Seq(element))))
      case (from: MapType, to: MapType)
          if DataTypeUtils.sameType(from.keyType, to.keyType) &&
            (to.valueContainsNull || !from.valueContainsNull) =>
        val key = NamedLambdaVariable("key", from.keyType, nullable = false)
        val of = NamedLambdaVariable("value", from.valueType, from.valueContainsNull)
        converted(of, to.valueType)
          .map(each => TransformValues(value, LambdaFunction(each, Seq(key, of))))
      case (from, _) =>
        Option.when(widens(from, to))(Cast(value, to, Some(zone), EvalMode.ANSI))
    }

  private def added(column: Attribute, isRequired: Boolean): ColumnChange = {
    if (isRequired && filled(column).isEmpty)
      throw refuse("MISSING_COLUMN", Seq("column" -> column.name))
    val (value, text) = filled(column).getOrElse(Literal(null, column.dataType) -> "NULL")
    ColumnChange(Some(column), None, value, text)
  }

  /** The value of `fill` for a column, and its text. */
  private def filled(column: Attribute): Option[(Literal, String)] =
    fill.collectFirst {
      case (name, value) if same(name, column.name) =>
        val literal = Try(asValueOf(column, written(column, value))).toOption.flatten
          .getOrElse(throw notAValue(column, value))
        literal -> literal.toString
    }

  /** A value of `fill`. Only TIMESTAMP has the instant of a time, all other types have its clock. */
  private def written(column: Attribute, value: Any): Literal = (value, column.dataType) match {
    case (time: OffsetDateTime, TimestampType) => Literal(time.toInstant)
    case (time: OffsetDateTime, _)             => Literal(time.toLocalDateTime)
    case (other, _)                            => Literal(other)
  }

  /** A literal as a value of a column; none if the column has no such value. */
  private def asValueOf(column: Attribute, written: Literal): Option[Literal] = {
    def cast(value: Literal, to: DataType) =
      Literal.create(Cast(value, to, Some(zone), EvalMode.ANSI).eval(), to)
    if (!Cast.canAnsiCast(written.dataType, column.dataType)) None
    else {
      val value = cast(written, column.dataType)
      val isNumber = Seq(written, value).forall(_.dataType.isInstanceOf[NumericType])
      Option.when(!isNumber || cast(value, written.dataType) == written)(value)
    }
  }

  private def notAValue(column: Attribute, value: Any) = refuse(
    "INVALID_ARGUMENT",
    Seq("what" -> s"fill: $value", "known" -> s"values of type ${column.dataType.sql}")
  )

  /** Whether each value of a type is one of another type, too. */
  private def widens(from: DataType, to: DataType): Boolean = (from, to) match {
    case (_: NumericType, _: NumericType)                           => Cast.canUpCast(from, to)
    case (_: CharType | _: VarcharType | _: StringType, StringType) => true
    case (NullType, _)                                              => true
    case _                                                          => false
  }
}
