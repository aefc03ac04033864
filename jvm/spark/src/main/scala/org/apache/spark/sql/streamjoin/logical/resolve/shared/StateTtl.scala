package org.apache.spark.sql.streamjoin.logical.resolve.shared

import java.util.concurrent.TimeUnit.MICROSECONDS

import scala.util.Try

import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors

/** Reads the time to live of the rows of a changelog join. */
private[resolve] object StateTtl {

  /** The TTL in microseconds. */
  def of(text: String, origin: Origin): Either[Refusal, Long] = {
    def refused(reason: String) =
      Left(Refusal(StreamJoinErrors.analysis(
        "INVALID_STATE_TTL",
        origin,
        "value" -> s"'$text'",
        "reason" -> reason
      )))
    Distance.of(text) match {
      case Distance.Interval(i, _) if i.months != 0 =>
        refused("months and years have no constant length")
      case Distance.Interval(i, _) =>
        Try(IntervalUtils.getDuration(i, MICROSECONDS)).toOption.filter(_ < Longest) match {
          case None => refused(
              "it is longer than ten thousand years. Without state_ttl, the join stores a row " +
                "until its delete"
            )
          case Some(micros) if micros <= 0 => refused("it is not positive")
          case Some(micros)                => Right(micros)
        }
      case _ => refused("it is not an interval")
    }
  }

  /** Ten thousand years. The end of a TTL must be a valid timestamp. */
  private val Longest = 10000L * 366 * MICROS_PER_DAY
}
