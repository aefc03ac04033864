package org.apache.spark.sql.streamjoin.api

import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.resolve.{
  Lag,
  LateColumn,
  OrderImposer,
  OrderOptions,
  ResolveStreamJoin,
  StreamJoinBuilder
}
import org.apache.spark.sql.streamjoin.physical.StreamJoinStrategy
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.{Column, DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.classic
import org.apache.spark.sql.internal.SQLConf

import io.streamjoin.model.Side

/** The operations on DataFrames, where Spark's plans can be seen. Callers use `io.streamjoin`. */
object DataFrameOperations {

  def imposeOrder(
      df: DataFrame,
      column: String,
      lag: String,
      idleTimeout: Option[String],
      maxAhead: Option[String],
      ahead: Option[String]
  ): DataFrame =
    impose(df, column, OrderImposer.interval(lag), options(idleTimeout, maxAhead, ahead))

  def imposeOrder(
      df: DataFrame,
      column: String,
      lag: Long,
      idleTimeout: Option[String],
      maxAhead: Option[String],
      ahead: Option[String]
  ): DataFrame = impose(df, column, Lag.Count(lag), options(idleTimeout, maxAhead, ahead))

  private def options(
      idleTimeout: Option[String],
      maxAhead: Option[String],
      ahead: Option[String]
  ): OrderOptions =
    OrderOptions(
      idleTimeout.map(OrderImposer.interval),
      maxAhead.map(OrderImposer.interval),
      ahead
    )

  private def impose(
      df: DataFrame,
      column: String,
      lag: Lag,
      options: OrderOptions
  ): DataFrame = {
    val dataset = classicOf(df)
    val plan = OrderImposer.impose(
      dataset.logicalPlan,
      UnresolvedAttribute.parseAttributeName(column),
      lag,
      options,
      dataset.sparkSession.sessionState.conf.resolver,
      CurrentOrigin.get
    )
    classic.Dataset.ofRows(dataset.sparkSession, plan)
  }

  def streamJoin(
      left: DataFrame,
      right: DataFrame,
      on: Column,
      how: String,
      options: JoinOptions
  ): DataFrame = streamJoin(left, right, options)(left.join(right, on, how))

  def streamJoin(
      left: DataFrame,
      right: DataFrame,
      using: Seq[String],
      how: String,
      options: JoinOptions
  ): DataFrame = streamJoin(left, right, options)(left.join(right, using, how))

  private def streamJoin(left: DataFrame, right: DataFrame, options: JoinOptions)(
      join: => DataFrame
  ): DataFrame = keeping(left, options.retention) {
    // Spark only resolves it: made ours without late rows, it might be refused
    val resolved = if (options.emitLate) ResolveStreamJoin.leavingTop(join) else join
    joined(left, right, resolved, options.emitLate)
  }

  /** Runs with a retention in place of the session's. */
  private def keeping[T](df: DataFrame, retention: Option[String])(f: => T): T =
    retention.fold(f) { text =>
      val settings = classicOf(df).sparkSession.sessionState.conf.clone()
      settings.setConfString(StreamJoinConf.Retention.key, text)
      SQLConf.withExistingConf(settings)(f)
    }

  /** What is wrong with a session, if anything. */
  def check(session: SparkSession): Option[String] = {
    val planner = session.asInstanceOf[classic.SparkSession].sessionState.planner
    Option.when(!planner.strategies.exists(_.isInstanceOf[StreamJoinStrategy]))(
      "the extension is not loaded in this session: set spark.sql.extensions=" +
        "io.streamjoin.StreamJoinExtensions before the session is created"
    )
  }

  /** Spark has resolved the join, its columns and its self-join; what is left is to make it ours. */
  private def joined(
      left: DataFrame,
      right: DataFrame,
      join: DataFrame,
      emitLate: Boolean
  ): DataFrame = {
    val streaming = Seq(Side.Left -> left, Side.Right -> right).filter(_._2.isStreaming)
    if (streaming.length == 1) {
      val (side, table) = if (left.isStreaming) Side.Right -> right else Side.Left -> left
      throw StreamJoinErrors.staticInput(CurrentOrigin.get, side.name, table.columns.toSeq)
    }
    val make: LogicalPlan => LogicalPlan =
      if (streaming.isEmpty) LateColumn.empty else if (emitLate) emitting else ours
    if (streaming.isEmpty && !emitLate) join
    else {
      val dataset = classicOf(join)
      classic.Dataset.ofRows(dataset.sparkSession, make(dataset.logicalPlan))
    }
  }

  private def ours(plan: LogicalPlan): LogicalPlan = plan match {
    case p: Project => p.withNewChildren(Seq(ours(p.child)))
    case j: Join    => StreamJoinBuilder.build(j)
    case other      => other
  }

  /** A join by column names has a projection on top, with one copy of each. */
  private def emitting(plan: LogicalPlan): LogicalPlan = plan match {
    case Project(columns, j: Join) => LateColumn.emit(j, columns, byNames = true)
    case j: Join                   => LateColumn.emit(j, j.output, byNames = false)
    case other => throw new IllegalStateException(s"no join, but ${other.nodeName}")
  }

  private def classicOf(df: DataFrame): classic.DataFrame = df.asInstanceOf[classic.DataFrame]
}
