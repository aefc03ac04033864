package org.apache.spark.sql.streamjoin.logical.resolve.shared

import java.time.Duration

import scala.util.Try

import org.apache.spark.sql.streamjoin.NearestWord

/** Suggests an interval for a string that is none: `10m`, `1 minuet`, `PT1H`, `10`. */
private[resolve] object IntervalSuggestion {

  /** The units with their abbreviations. */
  private val units = Seq(
    "microsecond" -> Set("us"),
    "millisecond" -> Set("ms"),
    "second" -> Set("s", "sec", "secs"),
    "minute" -> Set("m", "min", "mins"),
    "hour" -> Set("h", "hr", "hrs"),
    "day" -> Set("d"),
    "week" -> Set("w")
  )

  private val Bare = "\\s*(\\d+)\\s*".r
  private val Counted = "(?i)\\s*(\\d+)\\s*([a-z]+)\\s*".r

  /** The suggested intervals, in quotes. */
  def of(text: String): Option[String] = text match {
    case Bare(n) => Some(s"${written(n, "second")} or ${written(n, "minute")}")
    case Counted(n, unit) =>
      val word = unit.toLowerCase(java.util.Locale.ROOT)
      units.collectFirst { case (name, short) if short(word) => name }
        .orElse(NearestWord.of(word.stripSuffix("s"), units.map(_._1)))
        .map(written(n, _))
    case _ => Try(Duration.parse(text.trim)).toOption.filterNot(_.isNegative).map(ofDuration)
  }

  private def ofDuration(d: Duration): String = {
    val sizes = Seq("day" -> 86400L, "hour" -> 3600L, "minute" -> 60L, "second" -> 1L)
    sizes
      .collectFirst {
        case (unit, size) if d.getNano == 0 && d.getSeconds % size == 0 =>
          written((d.getSeconds / size).toString, unit)
      }
      .getOrElse(written((d.toNanos / 1000L).toString, "microsecond"))
  }

  private def written(n: String, unit: String): String =
    if (n == "1") s"'$n $unit'" else s"'$n ${unit}s'"
}
