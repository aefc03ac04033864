package io.streamjoin

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{functions, Column, DataFrame, SparkSession}
import org.apache.spark.sql.streamjoin.DataFrameOperations

/** What the Python package calls. Plain types only, for py4j. */
object PythonApi {

  /** The version of the jar. */
  def version(): String = Version.current

  /** What is wrong with the session as a sentence, or null. */
  def check(session: SparkSession): String = DataFrameOperations.check(session).orNull

  /** Imposes an order on a column of times; `idleTimeout` may be null. */
  def imposeOrder(df: DataFrame, column: String, lag: String, idleTimeout: String): DataFrame =
    DataFrameOperations.imposeOrder(df, column, lag, Option(idleTimeout))

  /** Imposes an order on a column of numbers; `idleTimeout` may be null. */
  def imposeOrder(df: DataFrame, column: String, lag: Long, idleTimeout: String): DataFrame =
    DataFrameOperations.imposeOrder(df, column, lag, Option(idleTimeout))

  /** Joins on a condition; `retention` may be null. */
  def streamJoin(
      left: DataFrame,
      right: DataFrame,
      on: Column,
      how: String,
      retention: String
  ): DataFrame = DataFrameOperations.streamJoin(left, right, on, how, Option(retention))

  /** Joins on a condition written in SQL; `retention` may be null. */
  def streamJoinExpr(
      left: DataFrame,
      right: DataFrame,
      on: String,
      how: String,
      retention: String
  ): DataFrame = streamJoin(left, right, functions.expr(on), how, retention)

  /** Joins on equally named columns, of which one copy comes out; `retention` may be null. */
  def streamJoinUsing(
      left: DataFrame,
      right: DataFrame,
      columns: java.util.List[String],
      how: String,
      retention: String
  ): DataFrame =
    DataFrameOperations.streamJoin(left, right, columns.asScala.toSeq, how, Option(retention))
}
