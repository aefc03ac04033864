package org.apache.spark.sql.streamjoin.logical.resolve.shared

import java.time.Duration

import scala.util.Try

import org.apache.spark.sql.streamjoin.NearestWord

/** Suggests an interval for a string that is none: `10m`, `1 minuet`, `PT1H`, `10`. */
private[resolve] object IntervalSuggestion {

  private val units =
    Seq("microsecond", "millisecond", "second", "minute", "hour", "day", "week")

  private val short = Map(
    "us" -> "microsecond",
    "ms" -> "millisecond",
    "s" -> "second",
    "sec" -> "second",
    "secs" -> "second",
    "m" -> "minute",
    "min" -> "minute",
    "mins" -> "minute",
    "h" -> "hour",
    "hr" -> "hour",
    "hrs" -> "hour",
    "d" -> "day",
    "w" -> "week"
  )

  private val Bare = "\\s*(\\d+)\\s*".r
  private val Counted = "(?i)\\s*(\\d+)\\s*([a-z]+)\\s*".r

  /** The suggested intervals, in quotes. */
  def of(text: String): Option[String] = text match {
    case Bare(n) => Some(s"${written(n, "second")} or ${written(n, "minute")}")
    case Counted(n, unit) =>
      val word = unit.toLowerCase(java.util.Locale.ROOT)
      short.get(word).orElse(NearestWord.of(word.stripSuffix("s"), units)).map(written(n, _))
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
