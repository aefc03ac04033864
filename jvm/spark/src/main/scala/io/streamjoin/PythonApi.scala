package io.streamjoin

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streamjoin.api.{DataFrameOperations, JoinOptions}
import org.apache.spark.sql.streamjoin.checkpoint.pending.PendingRows
import org.apache.spark.sql.{functions, Column, DataFrame, SparkSession}
import org.apache.spark.sql.streaming.StreamingQuery

/** What the Python package calls. Plain types only, for py4j. */
object PythonApi {

  /** The version of the jar. */
  def version(): String = Version.current

  /** What is wrong with the session as a sentence, or null. */
  def check(session: SparkSession): String = DataFrameOperations.check(session).orNull

  /** Imposes an order on a column of times; the options may be null. */
  def imposeOrder(
      df: DataFrame,
      column: String,
      lag: String,
      idleTimeout: String,
      maxAhead: String,
      ahead: String
  ): DataFrame =
    DataFrameOperations.imposeOrder(
      df,
      column,
      lag,
      Option(idleTimeout),
      Option(maxAhead),
      Option(ahead)
    )

  /** Imposes an order on a column of numbers; the options may be null. */
  def imposeOrder(
      df: DataFrame,
      column: String,
      lag: Long,
      idleTimeout: String,
      maxAhead: String,
      ahead: String
  ): DataFrame =
    DataFrameOperations.imposeOrder(
      df,
      column,
      lag,
      Option(idleTimeout),
      Option(maxAhead),
      Option(ahead)
    )

  /** Joins on a condition; `retention` and `late` may be null. */
  def streamJoin(
      left: DataFrame,
      right: DataFrame,
      on: Column,
      how: String,
      retention: String,
      late: String
  ): DataFrame =
    DataFrameOperations.streamJoin(left, right, on, how, JoinOptions.of(retention, late))

  /** Joins on a condition written in SQL; `retention` and `late` may be null. */
  def streamJoinExpr(
      left: DataFrame,
      right: DataFrame,
      on: String,
      how: String,
      retention: String,
      late: String
  ): DataFrame = streamJoin(left, right, functions.expr(on), how, retention, late)

  /** Joins on equally named columns, of which one copy comes out; `retention` and `late` may be null. */
  def streamJoinUsing(
      left: DataFrame,
      right: DataFrame,
      columns: java.util.List[String],
      how: String,
      retention: String,
      late: String
  ): DataFrame = {
    val options = JoinOptions.of(retention, late)
    DataFrameOperations.streamJoin(left, right, columns.asScala.toSeq, how, options)
  }

  /** Where a query has its checkpoint. */
  def checkpointOf(query: StreamingQuery): String = PendingRows.checkpoint(query)

  /** The rows that wait in a checkpoint; all but the first two may be null. */
  def pending(
      session: SparkSession,
      checkpoint: String,
      side: String,
      operator: java.lang.Long,
      batch: java.lang.Long
  ): DataFrame =
    PendingRows.of(
      session,
      checkpoint,
      Option(side),
      Option(operator).map(_.longValue),
      Option(batch).map(_.longValue)
    )
}
