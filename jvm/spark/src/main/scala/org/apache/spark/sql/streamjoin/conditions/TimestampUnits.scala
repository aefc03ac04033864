package org.apache.spark.sql.streamjoin.conditions

import java.util.Locale

import org.apache.spark.sql.catalyst.util.DateTimeConstants._
import org.apache.spark.sql.catalyst.util.DateTimeUtils

import org.apache.spark.unsafe.types.UTF8String

/** The units that timestamp functions accept by name. */
private[streamjoin] object TimestampUnits {

  private val constant: Map[String, Long] = Map(
    "MICROSECOND" -> 1L,
    "MILLISECOND" -> MICROS_PER_MILLIS,
    "SECOND" -> MICROS_PER_SECOND,
    "MINUTE" -> MICROS_PER_MINUTE,
    "HOUR" -> MICROS_PER_HOUR,
    "DAY" -> MICROS_PER_DAY,
    "DAYOFYEAR" -> MICROS_PER_DAY,
    "WEEK" -> 7 * MICROS_PER_DAY
  )

  /**
   * The length of a unit of `timestampadd` and `timestampdiff`; none for months and longer units.
   */
  def micros(unit: String): Option[Long] = constant.get(unit.toUpperCase(Locale.ROOT))

  /** The greatest length of a unit to which `date_trunc` and `trunc` round down. */
  def longest(format: Any): Option[Long] = {
    import DateTimeUtils._
    parseTruncLevel(format.asInstanceOf[UTF8String]) match {
      case TRUNC_TO_MICROSECOND => Some(1L)
      case TRUNC_TO_MILLISECOND => Some(MICROS_PER_MILLIS)
      case TRUNC_TO_SECOND      => Some(MICROS_PER_SECOND)
      case TRUNC_TO_MINUTE      => Some(MICROS_PER_MINUTE)
      case TRUNC_TO_HOUR        => Some(MICROS_PER_HOUR)
      case TRUNC_TO_DAY         => Some(MICROS_PER_DAY)
      case TRUNC_TO_WEEK        => Some(7 * MICROS_PER_DAY)
      case TRUNC_TO_MONTH       => Some(31 * MICROS_PER_DAY)
      case TRUNC_TO_QUARTER     => Some(92 * MICROS_PER_DAY)
      case TRUNC_TO_YEAR        => Some(366 * MICROS_PER_DAY)
      case _                    => None
    }
  }
}
