package org.apache.spark.sql.streamjoin.api

import org.apache.spark.sql.{classic, Column, DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{Literal, NamedArgumentExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedHint}
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.streamjoin.errors.AliasErrors
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoinHint
import org.apache.spark.sql.streamjoin.logical.plan.options.{JoinOptions, OptionValue}
import org.apache.spark.sql.streamjoin.logical.resolve.analyzer.{
  HoldHintedJoins,
  ResolveAwaitedJoin,
  ResolveChangelogJoin
}
import org.apache.spark.sql.streamjoin.physical.StreamJoinStrategy
import org.apache.spark.sql.streamjoin.sql.ResolveStreamHints

/** Operations on DataFrames that require access to Spark's plans. Callers use `io.streamjoin`. */
object DataFrameOperations {

  /**
   * Does what the hint of this name does, also if a setting disables Spark's hints.
   *
   * @param arguments arguments without a name, each a value or a condition on the columns of `df`
   * @param options options by name. A name may occur several times
   */
  def operation(
      df: DataFrame,
      name: String,
      arguments: Seq[Any],
      options: Seq[(String, String)]
  ): DataFrame = within(df) {
    val values = arguments.map {
      // resolves the condition as a filter on the input
      case condition: Column => planOf(df.filter(condition)).expressions.head
      case value             => Literal(value)
    }
    val named = options.map { case (option, value) =>
      NamedArgumentExpression(option, Literal(value))
    }
    on(df)(plan => ResolveStreamHints(UnresolvedHint(name, values ++ named, plan)))
  }

  /**
   * Joins a DataFrame with options.
   *
   * @param join applies Spark's own join to the left input
   */
  def streamJoin(left: DataFrame, options: Seq[(String, Any)])(
      join: DataFrame => DataFrame
  ): DataFrame = within(left) {
    val values = options.map { case (name, value) => OptionValue(name, Literal(value)) }
    val asked = JoinOptions.of(values, CurrentOrigin.get)
    val joined =
      AliasErrors.told(join(on(left)(StreamJoinHint(asked, held = false, _))))
    // also builds, or refuses, a join that waits for a second step
    on(joined)(plan => ResolveAwaitedJoin(ResolveChangelogJoin.all(HoldHintedJoins(plan))))
  }

  /** Describes the problem of a session, if any. */
  def check(session: SparkSession): Option[String] = {
    val planner = session.asInstanceOf[classic.SparkSession].sessionState.planner
    Option.when(!planner.strategies.exists(_.isInstanceOf[StreamJoinStrategy]))(
      "this session has not loaded the extension: set spark.sql.extensions=" +
        "io.streamjoin.StreamJoinExtensions before you create the session"
    )
  }

  /**
   * Makes the session of a DataFrame the active one. Rules read settings from the active session,
   * which is another one if a program uses several sessions.
   */
  private def within[T](df: DataFrame)(operation: => T): T = sessionOf(df).withActive(operation)

  private def on(df: DataFrame)(change: LogicalPlan => LogicalPlan): DataFrame = {
    val changed = change(planOf(df))
    if (changed.fastEquals(planOf(df))) df else classic.Dataset.ofRows(sessionOf(df), changed)
  }

  private def sessionOf(df: DataFrame): classic.SparkSession =
    df.asInstanceOf[classic.DataFrame].sparkSession

  private def planOf(df: DataFrame): LogicalPlan = df.asInstanceOf[classic.DataFrame].logicalPlan
}
