package org.apache.spark.sql.streamjoin.logical.plan

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, NamedArgumentExpression}
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.types.{DayTimeIntervalType, IntegralType, StringType}
import org.apache.spark.unsafe.types.CalendarInterval

/** The value of an option as it was written, and its name in small letters. */
private[streamjoin] final case class OptionValue(name: String, value: Expression, origin: Origin) {

  def isNull: Boolean = value match {
    case Literal(null, _) => true
    case _                => false
  }

  /** One of these words. */
  def word(words: String*): String = value match {
    case Literal(text, StringType) if words.contains(text.toString) => text.toString
    case _ => throw refused(words.map(w => s"'$w'").mkString(" or "))
  }

  /** An interval or a whole number, as text; whether it is one is seen where its column is known. */
  def distance: String = value match {
    case Literal(text, StringType)               => text.toString
    case Literal(n: Number, _: IntegralType)     => n.toString
    case Literal(micros, _: DayTimeIntervalType) => s"$micros microseconds"
    case Literal(interval: CalendarInterval, _)  => interval.toString
    case _ => throw refused("an interval such as '1 hour', or a whole number")
  }

  private def refused(expected: String): StreamJoinAnalysisException =
    StreamJoinErrors.invalidOption(
      origin,
      s"the option $name is $expected, not ${value.sql}",
      JoinOptions.allowed
    )
}

private[streamjoin] object OptionValue {

  def apply(name: String, value: Expression): OptionValue =
    OptionValue(name.toLowerCase(Locale.ROOT), value, value.origin)

  /** `name => value` of SQL, or `'name=value'`; none for what is neither. */
  def written(argument: Expression): Option[OptionValue] = argument match {
    case NamedArgumentExpression(name, value) => Some(OptionValue(name, value))
    case Literal(text, StringType) if text.toString.contains('=') =>
      val (name, value) = text.toString.span(_ != '=')
      Some(OptionValue(name.trim, Literal(value.drop(1).trim)))
    case _ => None
  }
}
