package org.apache.spark.sql.streamjoin.api

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.classic
import org.apache.spark.sql.streamjoin.errors.AliasErrors
import org.apache.spark.sql.streamjoin.logical.plan.{
  JoinOptions,
  OptionValue,
  StreamJoinHint,
  UnresolvedImposeOrder
}
import org.apache.spark.sql.streamjoin.logical.resolve.analyzer.FinishedJoin
import org.apache.spark.sql.streamjoin.physical.StreamJoinStrategy

/** Operations on DataFrames that require access to Spark's plans. Callers use `io.streamjoin`. */
object DataFrameOperations {

  /**
   * Imposes an order on a column.
   *
   * @param column name of the column, as in SQL
   * @param options the lag and further options, by the names of the arguments of `IMPOSE_ORDER`
   */
  def imposeOrder(df: DataFrame, column: String, options: Seq[(String, Any)]): DataFrame = {
    val value = options.map { case (name, value) => name -> Literal(value) }.toMap
    on(df)(
      UnresolvedImposeOrder(
        UnresolvedAttribute.parseAttributeName(column),
        value("lag"),
        value.get("idle_timeout"),
        value.get("max_ahead"),
        value.get("ahead"),
        _
      )
    )
  }

  /**
   * Joins a DataFrame with options.
   *
   * @param join applies Spark's own join to the left input
   */
  def streamJoin(left: DataFrame, options: Seq[(String, Any)])(
      join: DataFrame => DataFrame
  ): DataFrame = {
    val values = options.map { case (name, value) => OptionValue(name, Literal(value)) }
    val asked = JoinOptions.of(values, CurrentOrigin.get)
    val joined =
      AliasErrors.told(join(on(left)(StreamJoinHint(asked, held = false, _))))
    on(joined)(FinishedJoin.of)
  }

  /** Describes the problem of a session, if any. */
  def check(session: SparkSession): Option[String] = {
    val planner = session.asInstanceOf[classic.SparkSession].sessionState.planner
    Option.when(!planner.strategies.exists(_.isInstanceOf[StreamJoinStrategy]))(
      "this session has not loaded the extension: set spark.sql.extensions=" +
        "io.streamjoin.StreamJoinExtensions before you create the session"
    )
  }

  private def on(df: DataFrame)(change: LogicalPlan => LogicalPlan): DataFrame = {
    val dataset = df.asInstanceOf[classic.DataFrame]
    val changed = change(dataset.logicalPlan)
    if (changed.fastEquals(dataset.logicalPlan)) df
    else classic.Dataset.ofRows(dataset.sparkSession, changed)
  }
}
