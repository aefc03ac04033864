package org.apache.spark.sql.streamjoin.logical.resolve.shared

import java.util.concurrent.TimeUnit.MICROSECONDS

import scala.util.Try

import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.streamjoin.errors.{
  ChangelogErrors,
  StreamJoinAnalysisException,
  StreamJoinErrors
}
import org.apache.spark.sql.streamjoin.logical.plan.{JoinOptions, OrderScope, StreamJoinHint}

/** For how long rows of a changelog join are kept, and which options there are for which join. */
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

  /** Why the options of a join are none of a changelog join. */
  def misfit(join: Join): Option[StreamJoinAnalysisException] =
    StreamJoinHint.on(join).flatMap { o =>
      if (o.mode.contains(JoinOptions.EventTime))
        Some("an input has rows that come and go, and the mode is event_time")
      else if (o.emitLate) Some("late => 'emit' is an option of an event-time join")
      else if (o.last) Some("match => 'last', an as-of join, is one by event time")
      else if (o.orderScope != OrderScope.Query)
        Some("order_scope is an option of an event-time join: rows that come and go have no order")
      else if (o.retention.nonEmpty)
        Some("retention is an option of an event-time join; here it is state_ttl")
      else None
    }.map(invalid(join.origin, _, "state_ttl"))

  /** Why they are none of an event-time join. */
  def misfitOfEventTime(join: Join): Option[StreamJoinAnalysisException] =
    StreamJoinHint.on(join).filter(o => o.leftTtl.nonEmpty || o.rightTtl.nonEmpty).map { _ =>
      invalid(
        join.origin,
        "state_ttl is an option of a changelog join: give mode => 'changelog', too",
        "mode",
        "state_ttl"
      )
    }

  private def invalid(origin: Origin, reason: String, instead: String*) =
    StreamJoinErrors.invalidOption(
      origin,
      reason,
      JoinOptions.allowed,
      instead.flatMap(JoinOptions.example)
    )
}
