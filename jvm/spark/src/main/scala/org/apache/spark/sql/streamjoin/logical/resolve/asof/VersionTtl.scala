package org.apache.spark.sql.streamjoin.logical.resolve.asof

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.streamjoin.logical.plan.changes.Versions
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoinHint
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinOptions
import org.apache.spark.sql.streamjoin.logical.resolve.shared.{
  Distance,
  Distances,
  Refusal,
  StateTtl
}

import io.streamjoin.model.Side

/**
 * `state_ttl` of versions, as a conjunct of the condition. A version expires if its key has not
 * changed for this time, by event time. So the conjunct limits the age of a match.
 *
 * {{{
 *   state_ttl => '1 hour', version of 12:00, no later change of its key
 *   a row of 13:00 matches it, a row of 13:01 does not
 * }}}
 */
private[asof] object VersionTtl {

  /** The condition with this conjunct, if the join has a `state_ttl`. */
  def within(
      join: Join,
      condition: Expression,
      times: AsOfTimes,
      build: Side,
      versions: Option[Versions]
  ): Either[Refusal, Expression] = {
    val ttl = StreamJoinHint.options(join).getOrElse(JoinOptions()).ttl
    def refused(reason: String) =
      Left(Refusal(JoinOptions.refusal(reason, "state_ttl")(join.origin)))
    if (Side.both.forall(ttl(_).isEmpty)) Right(condition)
    else if (versions.isEmpty)
      refused(
        "state_ttl expires versions of a changelog. This input is append-only, so a bound in " +
          "the condition limits the age of a match"
      )
    else
      ttl(build) match {
        case None =>
          refused(
            s"state_ttl of the ${build.other.name} input has no effect: the join buffers its " +
              "rows only until they are joined"
          )
        case Some(text) =>
          StateTtl.of(text, join.origin).map { _ =>
            val ages = new Distances("state_ttl", times.build, join.origin)
            And(condition, ages.notBefore(times.build, times.probe, Distance.of(text)))
          }
      }
  }
}
