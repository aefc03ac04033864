package org.apache.spark.sql.streamjoin.conditions

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.{MICROS_PER_DAY, MICROS_PER_SECOND}
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.streamjoin.spark.TimestampAddInterval
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * Finds the parts of a condition that depend on the session time zone.
 *
 * A text that is parsed, for example by `from_json`, may have an instant in local time. Values of
 * all other types in it do not depend on the zone.
 */
private[streamjoin] object SessionZone {

  /** The time zones on which the value of an expression depends. */
  def of(e: Expression): Set[String] = e match {
    case _: GetStructField
        if isParser(whole(e)) && !isInstant(e) => ofChildren(whole(e))
    case z: TimeZoneAwareExpression if depends(z) => ofChildren(e) ++ z.timeZoneId
    case _                                        => ofChildren(e)
  }

  private def ofChildren(e: Expression): Set[String] = e.children.flatMap(of).toSet

  /** Whether two zones have the same local time at each instant, as `UTC` and `Etc/UTC`. */
  def same(a: String, b: String): Boolean =
    a == b || Try(rules(a) == rules(b)).getOrElse(false)

  /** Whether each day has the same length in two zones: 24 hours, or the zones are the same. */
  def haveSameDays(a: String, b: String): Boolean =
    same(a, b) || Try(Seq(a, b).forall(rules(_).isFixedOffset)).getOrElse(false)

  private def rules(zone: String) = DateTimeUtils.getZoneId(zone).getRules

  private def depends(e: TimeZoneAwareExpression): Boolean = e match {
    case c: Cast => Cast.needsTimeZone(c.child.dataType, c.dataType)
    case TimestampAddInterval(start, interval, _) => isInstant(start) && !isBelowADay(interval)
    case TimestampAdd(unit, _, start, _) =>
      isInstant(start) && TimestampUnits.micros(unit).forall(_ >= MICROS_PER_DAY)
    case TruncTimestamp(format, _, _) if format.foldable =>
      Option(format.eval()).flatMap(TimestampUnits.longest).forall(_ > MICROS_PER_SECOND)
    case UnixTimestamp(time, _, _, _) if isInstant(time)   => false
    case ToUnixTimestamp(time, _, _, _) if isInstant(time) => false
    case parser if isParser(parser)                        => isInstant(parser)
    case _ => e.children.exists(c => isInstant(c) || isText(c)) || isInstant(e)
  }

  /** Whether an interval has no whole days or months, which Spark adds in local time. */
  private def isBelowADay(interval: Expression): Boolean =
    interval.foldable && Try(interval.eval()).toOption.exists {
      case micros: Long        => micros.abs < MICROS_PER_DAY
      case i: CalendarInterval => i.months == 0 && i.days == 0
      case _                   => false
    }

  /** Whether a value is an instant, or has one in a field. */
  private def isInstant(e: Expression): Boolean =
    e.dataType.existsRecursively(_ == TimestampType)

  private def isText(e: Expression): Boolean = e.dataType.isInstanceOf[StringType]

  // ---- values that are parsed from text ----

  def isParser(e: Expression): Boolean = e match {
    case _: JsonToStructs | _: CsvToStructs | _: XmlToStructs => true
    case _                                                    => false
  }

  /** The expression whose field, at any depth and under any alias, is `e`. */
  def whole(e: Expression): Expression = e match {
    case Alias(child, _)             => whole(child)
    case GetStructField(child, _, _) => whole(child)
    case t: TaggingExpression        => whole(t.child)
    case _                           => e
  }

  /** Whether the value depends on an instant in a column that was parsed from text. */
  def readsInstant(e: Expression, column: ExprId): Boolean = whole(e) match {
    case a: Attribute => a.exprId == column && isInstant(e)
    case part         => part.children.exists(readsInstant(_, column))
  }
}
