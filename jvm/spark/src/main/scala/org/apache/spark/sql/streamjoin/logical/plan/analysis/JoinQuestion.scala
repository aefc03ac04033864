package org.apache.spark.sql.streamjoin.logical.plan.analysis

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns

import io.streamjoin.model.JoinType

/**
 * All inputs of the analysis of a join. Equal questions have the same analysis.
 *
 * @param named the event-time columns of both inputs with their display names
 * @param aliases the alias of each input, if its columns in the condition determine one
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

  /**
   * The event times of both inputs. It omits columns that only the optimizer's rewrites of the
   * inputs contain.
   */
  def times: TimeColumns = (left.times ++ right.times).ofOnly(named.map(_._1.exprId).toSet)
}

private[streamjoin] object JoinQuestion {

  /**
   * The properties of an input that the analysis depends on.
   *
   * @param zones the session time zones that the bounds of joins below depend on
   * @param zoned the parts of its columns that depend on a time zone
   */
  final case class Input(
      output: Seq[Attribute],
      times: TimeColumns,
      zones: Set[String],
      zoned: Seq[ZonedPart]
  )

  object Input {
    def of(plan: LogicalPlan, zones: Set[String] = Set.empty): Input =
      Input(plan.output, TimeColumns.of(plan), zones, StreamJoinInput.zoned(plan))
  }
}
