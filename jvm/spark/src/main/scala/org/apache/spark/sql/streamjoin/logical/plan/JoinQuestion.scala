package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns

import io.streamjoin.model.JoinType

/**
 * All that the analysis of a join depends on: two joins of which it is equal have the same analysis.
 *
 * @param named the event-time columns of both inputs, and what the person calls them
 * @param aliases what the person calls each input, where its columns in the condition tell it
 */
private[streamjoin] final case class JoinQuestion(
    left: JoinQuestion.Input,
    right: JoinQuestion.Input,
    joinType: JoinType,
    condition: Expression,
    named: Seq[(Attribute, String)],
    aliases: Seq[Option[String]] = Seq(None, None)
) {

  def inputs: Seq[JoinQuestion.Input] = Seq(left, right)

  /** The event times of both inputs. Of what the optimizer makes of the inputs, no other column counts. */
  def times: TimeColumns = (left.times ++ right.times).ofOnly(named.map(_._1.exprId).toSet)
}

private[streamjoin] object JoinQuestion {

  /**
   * What counts of an input.
   *
   * @param zones the time zones of the session that the bounds of joins below depend on
   * @param zoned what of its columns depends on one
   */
  final case class Input(
      output: Seq[Attribute],
      times: TimeColumns,
      zones: Set[String],
      zoned: Seq[ZonedPart]
  )

  object Input {
    def of(plan: LogicalPlan): Input = Input(
      plan.output,
      TimeColumns.of(plan),
      plan.collect { case j: DependsOnZones => j.zones }.flatten.toSet,
      StreamJoinInput.zoned(plan)
    )
  }
}
