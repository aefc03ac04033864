package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException
import org.apache.spark.sql.streamjoin.logical.plan.{ChangelogJoin, JoinOptions}

import io.streamjoin.model.Side

/**
 * Refuses `emit => 'early'` if the state of the join would grow without limit. An early result is
 * the result of an event-time join, emitted before it is final. So it requires the watermarks and
 * bounds of such a join.
 */
private[resolve] object EarlyResults {

  def refusal(join: ChangelogJoin, options: JoinOptions): Option[StreamJoinAnalysisException] = {
    val unbounded = Side.both.filter(s => join.leaving.columns(s).isEmpty && join.ttl(s).isEmpty)
    Option.when(options.emitsEarly && unbounded.nonEmpty) {
      val inputs = unbounded.map(_.name).mkString(" and the ")
      JoinOptions.refusal(
        s"emit => 'early' evicts rows by watermark, and no watermark evicts those of the $inputs input. Give " +
          "both inputs an event time with a watermark, and bound the two times against each other in the " +
          "condition of the join, in both directions. Or write mode => 'changelog', which stores rows " +
          "without a limit",
        "mode",
        "state_ttl"
      )(join.origin)
    }
  }
}
