package org.apache.spark.sql.streamjoin.logical.resolve.shared

import java.util.concurrent.TimeUnit.MICROSECONDS

import scala.util.Try

import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.streamjoin.errors.{ChangelogErrors, StreamJoinAnalysisException}

/** For how long rows of a changelog join are kept. */
private[resolve] object StateTtl {

  /** In microseconds. */
  def of(text: String, origin: Origin): Either[StreamJoinAnalysisException, Long] = {
    def refused(reason: String) =
      Left(ChangelogErrors.invalidStateTtl(origin, s"'$text'", reason))
    Distance.of(text) match {
      case Distance.Interval(i, _) if i.months != 0 =>
        refused("months and years have no constant length")
      case Distance.Interval(i, _) =>
        Try(IntervalUtils.getDuration(i, MICROSECONDS)).toOption.filter(_ < Longest) match {
          case None => refused(
              "it is longer than ten thousand years; without state_ttl rows stay until they go"
            )
          case Some(micros) if micros <= 0 => refused("it is not positive")
          case Some(micros)                => Right(micros)
        }
      case _ => refused("it is no interval")
    }
  }

  /** Ten thousand years: the end of an age is a time. */
  private val Longest = 10000L * 366 * MICROS_PER_DAY
}
