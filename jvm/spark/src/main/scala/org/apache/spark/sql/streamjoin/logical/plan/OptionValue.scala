package org.apache.spark.sql.streamjoin.logical.plan

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, NamedArgumentExpression}
import org.apache.spark.sql.types.{DayTimeIntervalType, IntegralType, StringType}
import org.apache.spark.unsafe.types.CalendarInterval

/** The value of an option as it was written, and its name in small letters. */
private[streamjoin] final case class OptionValue(name: String, value: Expression) {

  def isNull: Boolean = value match {
    case Literal(null, _) => true
    case _                => false
  }

  /** One of these words. */
  def word(words: String*): Option[String] = value match {
    case Literal(text, StringType) => Some(text.toString).filter(words.contains)
    case _                         => None
  }

  /** An interval or a whole number, as text; whether it is one is seen where its column is known. */
  def distance: Option[String] = value match {
    case Literal(text, StringType)               => Some(text.toString)
    case Literal(n: Number, _: IntegralType)     => Some(n.toString)
    case Literal(micros, _: DayTimeIntervalType) => Some(s"$micros microseconds")
    case Literal(i: CalendarInterval, _)         => Some(i.toString)
    case _                                       => None
  }
}

private[streamjoin] object OptionValue {

  /** `name => value` of SQL, or `'name=value'`; none for what is neither. */
  def written(argument: Expression): Option[OptionValue] = argument match {
    case NamedArgumentExpression(name, value) =>
      Some(OptionValue(name.toLowerCase(Locale.ROOT), value))
    case Literal(text, StringType) if text.toString.contains('=') =>
      val (name, value) = text.toString.span(_ != '=')
      Some(OptionValue(name.trim.toLowerCase(Locale.ROOT), Literal(value.drop(1).trim)))
    case _ => None
  }
}
