package org.apache.spark.sql.streamjoin.conditions

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Cast, EvalMode, Literal}
import org.apache.spark.sql.catalyst.util.DateTimeConstants._
import org.apache.spark.sql.catalyst.util.DateTimeUtils.microsToMillis
import org.apache.spark.sql.types._

import io.streamjoin.bounds.Saturated

/**
 * A family of types of event times.
 *
 * Times of one family have a constant distance. The distance of times of different families depends
 * on the session time zone.
 */
private[streamjoin] sealed trait TimeUnit extends Serializable {

  /** A watermark as reported: milliseconds since 1970, or the number itself. */
  def shown(value: Long): Long

  /** A time of this family, as a literal. */
  def literal(time: Long): Literal

  /**
   * A time of this family as text.
   *
   * @param zone the session time zone
   */
  final def text(time: Long, zone: String): String =
    Cast(literal(time), StringType, Some(zone), EvalMode.ANSI).eval().toString

  /** A distance that can be added to a time, as a literal. */
  def distance(by: Long): Literal

  /** A distance in SQL. */
  def sql(distance: Long): String

  /** A distance for examples: an hour, a day, a hundred. */
  def example: Long

  /** A distance of at least zero in words: `1 hour 30 minutes`. */
  def words(distance: Long): String

  /** The sum of a time and a distance in SQL. */
  final def moved(time: String, by: Long): String = moved(time, by, sql)

  /** The sum of a time and a distance, with the distance in words. */
  final def movedInWords(time: String, by: Long): String = moved(time, by, words)

  private def moved(time: String, by: Long, written: Long => String): String =
    if (by == 0) time
    else if (by > 0) s"$time + ${written(by)}"
    else s"$time - ${written(Saturated.subtract(0, by))}"
}

private[streamjoin] object TimeUnit {

  case object Timestamp extends Microseconds(TimestampType)

  case object TimestampNtz extends Microseconds(TimestampNTZType)

  case object Date extends TimeUnit {
    override def shown(value: Long): Long = value * MILLIS_PER_DAY
    override def literal(time: Long): Literal = Literal(time.toInt, DateType)
    override def distance(by: Long): Literal = Literal(
      Math.multiplyExact(by, MICROS_PER_DAY),
      DayTimeIntervalType(DayTimeIntervalType.DAY)
    )
    override def sql(distance: Long): String = s"INTERVAL '$distance' DAY"
    override def example: Long = 1
    override def words(distance: Long): String = counted(distance.toString, "day")
  }

  case object Number extends TimeUnit {
    override def shown(value: Long): Long = value
    override def literal(time: Long): Literal = Literal(time)
    override def distance(by: Long): Literal = Literal(by)
    override def sql(distance: Long): String = distance.toString
    override def example: Long = 100
    override def words(distance: Long): String = distance.toString
  }

  /** Whether it is the type of Spark's `window`. A window counts as the time of its end. */
  def isWindow(dataType: DataType): Boolean = dataType match {
    case StructType(Array(start, end)) =>
      start.name == "start" && end.name == "end" && start.dataType == end.dataType &&
      Seq(TimestampType, TimestampNTZType).contains(end.dataType)
    case _ => false
  }

  /** The type of the time that a value counts as; for a window, the type of its end. */
  def timeOf(dataType: DataType): DataType = dataType match {
    case StructType(Array(_, end)) if isWindow(dataType) => end.dataType
    case other                                           => other
  }

  def of(dataType: DataType): Option[TimeUnit] = dataType match {
    case TimestampType                                 => Some(Timestamp)
    case TimestampNTZType                              => Some(TimestampNtz)
    case DateType                                      => Some(Date)
    case LongType | IntegerType | ShortType | ByteType => Some(Number)
    case window if isWindow(window)                    => of(timeOf(window))
    case _                                             => None
  }

  /** Whether a cast of integers preserves all values. */
  def widens(from: DataType, to: DataType): Boolean = (from, to) match {
    case (_: IntegralType, _: IntegralType) => Cast.canUpCast(from, to)
    case _                                  => false
  }

  private def counted(number: String, unit: String): String =
    s"$number $unit${if (number == "1") "" else "s"}"

  sealed abstract class Microseconds(dataType: DataType) extends TimeUnit {
    private val units = Seq(
      "DAY" -> MICROS_PER_DAY,
      "HOUR" -> MICROS_PER_HOUR,
      "MINUTE" -> MICROS_PER_MINUTE,
      "SECOND" -> MICROS_PER_SECOND
    )

    override def shown(value: Long): Long = microsToMillis(value)

    override def literal(time: Long): Literal = Literal(time, dataType)

    override def distance(by: Long): Literal = Literal(by, DayTimeIntervalType())

    override def example: Long = MICROS_PER_HOUR

    override def sql(distance: Long): String =
      units
        .collectFirst {
          case (u, size) if distance % size == 0 => s"INTERVAL '${distance / size}' $u"
        }
        .getOrElse(s"INTERVAL '${BigDecimal(distance, 6)}' SECOND")

    override def words(distance: Long): String = {
      val (rest, whole) = units.init.foldLeft((distance, Seq.empty[String])) {
        case ((left, said), (unit, size)) =>
          val n = left / size
          (
            left % size,
            if (n == 0) said else said :+ counted(n.toString, unit.toLowerCase(Locale.ROOT))
          )
      }
      val seconds = new java.math.BigDecimal(java.math.BigInteger.valueOf(rest), 6)
      if (rest == 0 && whole.nonEmpty) whole.mkString(" ")
      else {
        (whole :+ counted(seconds.stripTrailingZeros.toPlainString, "second")).mkString(" ")
      }
    }
  }
}
