package org.apache.spark.sql.streamjoin.logical.plan.options

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.{
  CreateMap,
  Expression,
  Literal,
  NamedArgumentExpression
}
import org.apache.spark.sql.types.{DayTimeIntervalType, IntegralType, StringType}
import org.apache.spark.unsafe.types.CalendarInterval

import io.streamjoin.model.BySide

/** An option as written in the query, with its name in lower case. */
private[streamjoin] final case class OptionValue(name: String, value: Expression) {

  def isNull: Boolean = value match {
    case Literal(null, _) => true
    case _                => false
  }

  /** The value, if it is one of these words. */
  def word(words: String*): Option[String] = value match {
    case Literal(text, StringType) => Some(text.toString).filter(words.contains)
    case _                         => None
  }

  /**
   * An interval for both sides as text, or a map with an interval for each side. As text, a map is
   * `left=1 day, right=30 days`.
   */
  def bySide: Option[BySide[Option[String]]] = value match {
    case UnresolvedFunction(Seq(map), arguments, _, _, _, _, _) if map.equalsIgnoreCase("map") =>
      ofSides(arguments)
    case CreateMap(arguments, _) => ofSides(arguments)
    case Literal(text, StringType) if text.toString.contains('=') =>
      ofSides(text.toString.split(',').toSeq.flatMap(_.split("=", 2)).map(s => Literal(s.trim)))
    case _ => distance.map(text => BySide(Some(text), Some(text)))
  }

  private def ofSides(arguments: Seq[Expression]): Option[BySide[Option[String]]] = {
    val pairs = arguments.grouped(2).toSeq.map {
      case Seq(Literal(side, StringType), value) =>
        OptionValue(side.toString.toLowerCase(Locale.ROOT), value).distance.map(side.toString -> _)
      case _ => None
    }
    val limits = pairs.flatten.map { case (side, value) => side.toLowerCase(Locale.ROOT) -> value }
    val sides = limits.map(_._1)
    Option.when(
      pairs.nonEmpty && pairs.forall(_.nonEmpty) && sides.distinct == sides &&
        sides.forall(Set("left", "right"))
    )(BySide.of(side => limits.toMap.get(side.name)))
  }

  /** An interval or a whole number, as text. It is validated when its column is resolved. */
  def distance: Option[String] = value match {
    case Literal(text, StringType)               => Some(text.toString)
    case Literal(n: Number, _: IntegralType)     => Some(n.toString)
    case Literal(micros, _: DayTimeIntervalType) => Some(s"$micros microseconds")
    case Literal(i: CalendarInterval, _)         => Some(i.toString)
    case _                                       => None
  }
}

private[streamjoin] object OptionValue {

  /** Reads `name => value` of SQL, or `'name=value'`; none: neither of these. */
  def written(argument: Expression): Option[OptionValue] = argument match {
    case NamedArgumentExpression(name, value) =>
      Some(OptionValue(name.toLowerCase(Locale.ROOT), value))
    case Literal(text, StringType) if text.toString.contains('=') =>
      val (name, value) = text.toString.span(_ != '=')
      Some(OptionValue(name.trim.toLowerCase(Locale.ROOT), Literal(value.drop(1).trim)))
    case _ => None
  }
}
