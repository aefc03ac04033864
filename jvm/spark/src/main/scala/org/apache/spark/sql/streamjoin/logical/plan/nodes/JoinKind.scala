package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.plans.logical.{CTERelationRef, Join}
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.options.{JoinOptions, JoinTypes, JoinWindows}
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns

/**
 * The kind of a stream-to-stream join. The first rule that applies to a join decides:
 *
 * {{{
 *   hint mode => 'changelog', or emit => 'early'        Changelog
 *   hint match => 'last', or t OVER (ROWS ...)          AsOf
 *   an input is a changelog                             Changelog
 *   options, and no input is a stream                   OfTables
 *   two streams, and a join type of this project        EventTime
 * }}}
 *
 * A kind lists the options that it does not support. The package `logical.resolve.analyzer` builds
 * its node.
 */
private[streamjoin] sealed abstract class JoinKind {

  /** Whether rows are joined by event time, and each output row is final. */
  def byEventTime: Boolean = false

  /** Whether a join is of this kind, as far as its inputs are resolved. */
  protected def applies(j: Join): Boolean

  /** The options that this kind does not support, the most important first. */
  private[plan] def misfits: Seq[JoinKind.Misfit] = Nil

  /** Refuses the first option of a join that this kind does not support. */
  final def misfit(j: Join): Option[StreamJoinAnalysisException] = for {
    options <- StreamJoinHint.options(j)
    misfit <- misfits.find(_.isGiven(options))
  } yield misfit.error(j.origin)
}

private[streamjoin] object JoinKind {

  /** An unsupported option: whether a join has it, and the error. */
  private[plan] final case class Misfit(
      isGiven: JoinOptions => Boolean,
      error: Origin => StreamJoinAnalysisException
  )

  /** Joins rows whose event times are within bounds; the node is [[StreamJoin]]. */
  case object EventTime extends JoinKind {

    override def byEventTime: Boolean = true

    override protected def applies(j: Join): Boolean =
      j.left.isStreaming && j.right.isStreaming && JoinTypes.of(j.joinType).nonEmpty &&
        !j.exists(_.isInstanceOf[CTERelationRef])

    override private[plan] def misfits = Seq(
      stateTtl,
      Misfit(_.retractsExpired, JoinOptions.refusal(onlyOfChangelogs, "state_ttl"))
    )
  }

  /** Joins each row with the last rows before it; the node is [[AsOfJoin]]. */
  case object AsOf extends JoinKind {

    override def byEventTime: Boolean = true

    override protected def applies(j: Join): Boolean =
      StreamJoinHint.options(j).exists(_.last) || j.children.exists(LastRows.on(_).nonEmpty)

    private def refused(reason: String, instead: String)(origin: Origin) =
      StreamJoinErrors.unsupportedAsOf(origin, reason, instead)

    override private[plan] def misfits = Seq(
      Misfit(_.retractsExpired, JoinOptions.refusal(onlyOfChangelogs, "state_ttl")),
      Misfit(
        _.retention.nonEmpty,
        refused(
          "it has a retention",
          "Limit the age of a match in the condition, as in q.t >= t.t - INTERVAL '10' MINUTE"
        )
      )
    )
  }

  /** Joins changelogs without time bounds, and emits changes; the node is [[ChangelogJoin]]. */
  case object Changelog extends JoinKind {

    override protected def applies(j: Join): Boolean =
      StreamJoinHint.options(j).exists(_.isChangelog) ||
        j.children.exists(input => input.resolved && ChangelogMarks.areChanges(input))

    private def refused(isGiven: JoinOptions => Boolean, reason: String) =
      Misfit(isGiven, JoinOptions.refusal(reason, "state_ttl"))

    override private[plan] def misfits = Seq(
      Misfit(
        o => o.emitsEarly && o.mode.contains(JoinOptions.EventTime),
        JoinOptions.refusal(
          "emit => 'early' corrects results later, but mode => 'event_time' emits final results",
          "emit"
        )
      ),
      Misfit(
        _.emit.contains(JoinOptions.Final),
        JoinOptions.refusal(
          "emit is 'final', but this join corrects its results later. The mode is changelog, or " +
            "an input is a changelog or the output of a join with emit => 'early'",
          "emit"
        )
      ),
      refused(
        _.mode.contains(JoinOptions.EventTime),
        "an input is a changelog, but the mode is event_time"
      ),
      refused(
        o => o.retractsExpired && !o.hasTtl,
        "on_expiry => 'retract' needs a state_ttl: without it, no row expires"
      ),
      refused(_.emitLate, "late => 'emit' is an option of an event-time join"),
      refused(_.last, "match => 'last' requests an as-of join, which is an event-time join"),
      refused(
        _.retention.nonEmpty,
        "retention is an option of an event-time join. A changelog join has state_ttl instead"
      )
    )
  }

  /**
   * A join with options but without a streaming input. Spark executes it, with the output columns
   * of a join of streams.
   */
  case object OfTables extends JoinKind {

    override protected def applies(j: Join): Boolean =
      StreamJoinHint.options(j).nonEmpty && !j.isStreaming
  }

  private val onlyOfChangelogs =
    "on_expiry is an option of a changelog join, whose results can be retracted"

  private val stateTtl: Misfit = Misfit(
    o => o.hasTtl,
    JoinOptions.refusal(
      "state_ttl is an option of a changelog join: also write mode => 'changelog'",
      "mode",
      "state_ttl"
    )
  )

  /** The kind of a join; none: Spark's own join. */
  def of(j: Join): Option[JoinKind] =
    if (StreamJoinHint.options(j).exists(_.isChangelog)) Some(Changelog)
    else Seq(AsOf, Changelog, OfTables, EventTime).find(_.applies(j))

  /** The kind of a join that this project executes in any configuration. */
  def required(j: Join): Option[JoinKind] = of(j).filter(_ != EventTime || isImposed(j))

  /**
   * Whether the query requires this project's join: by a watermarked column of an input, windows on
   * the inputs, or a hint.
   */
  def isImposed(j: Join): Boolean =
    StreamJoinHint.options(j).nonEmpty || j.children.exists(TimeColumns.of(_).imposed) ||
      j.getTagValue(JoinWindows.Placed).nonEmpty
}
