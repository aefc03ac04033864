package io.streamjoin

import java.util.{List => JList, Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streamjoin.Version
import org.apache.spark.sql.streamjoin.api.{ChangelogOperations, DataFrameOperations}
import org.apache.spark.sql.streamjoin.checkpoint.pending.QueryCheckpoint
import org.apache.spark.sql.{functions, Column, DataFrame, SparkSession}
import org.apache.spark.sql.streaming.StreamingQuery

/**
 * What the Python package calls. Plain types only, for py4j.
 *
 * Each method gives a DataFrame that is analysed; what it refuses it throws as an `AnalysisException`
 * with a condition `STREAM_JOIN.*`. Options that are not in a map have their defaults.
 */
object PythonApi {

  /** The version of the jar. */
  def version(): String = Version.current

  /** What is wrong with the session as a sentence, or null. */
  def check(session: SparkSession): String =
    Version.problem(session.version).orElse(DataFrameOperations.check(session)).orNull

  /**
   * Imposes an order on a column, with the options of `IMPOSE_ORDER` by name.
   *
   * @param column a top-level column of a time or a whole number (TINYINT to BIGINT)
   * @param options `lag` (an interval as text, or a whole number in the unit of a column of numbers; there
   *   must be one); `idle_timeout` and `max_ahead` (intervals, without: none); `ahead` (`reject`, the
   *   default, or `keep`)
   */
  def imposeOrder(df: DataFrame, column: String, options: JMap[String, Any]): DataFrame =
    DataFrameOperations.imposeOrder(df, column, options.asScala.toSeq)

  /**
   * Joins with the options of a join by name.
   *
   * @param on a Column; a condition written in SQL; or a list of column names, of which one copy
   *   comes out
   * @param how a join type as `Dataset.join` reads it
   * @param options those of the hint `STREAM_JOIN`: `retention`, `late`, `mode`, `state_ttl`, `match`,
   *   `order_scope`; see [[org.apache.spark.sql.streamjoin.logical.plan.JoinOptions]]
   */
  def streamJoin(
      left: DataFrame,
      right: DataFrame,
      on: Any,
      how: String,
      options: JMap[String, Any]
  ): DataFrame =
    DataFrameOperations.streamJoin(left, options.asScala.toSeq)(joined(_, right, on, how))

  /**
   * Declares rows with a kind of change.
   *
   * @param key the unique key; empty: rows are told apart by all their columns, and counted
   * @param op the column of the kinds
   * @param mapping what its words stand for; empty: those of Spark, Flink and Iceberg
   * @param sequenceBy which of two changes of a key is later; null: `_commit_version`, or nothing says it
   */
  def fromChangelog(
      df: DataFrame,
      key: JList[String],
      op: String,
      mapping: JMap[String, String],
      sequenceBy: String
  ): DataFrame =
    ChangelogOperations.fromChangelog(
      df,
      key.asScala.toSeq,
      op,
      mapping.asScala.toMap,
      Option(sequenceBy)
    )

  /**
   * Declares rows that are each the latest image of their key.
   *
   * @param deletes which rows say that their key is gone; null: none
   */
  def fromUpserts(
      df: DataFrame,
      key: JList[String],
      sequenceBy: String,
      deletes: Column
  ): DataFrame =
    ChangelogOperations.fromUpserts(df, key.asScala.toSeq, sequenceBy, Option(deletes))

  /**
   * Declares Debezium's messages as the changes of their rows.
   *
   * @param key as columns of the row
   * @param value the column of the messages
   * @param sequenceBy a path in the message, or a column beside it; null: `offset`
   */
  def fromDebezium(
      df: DataFrame,
      key: JList[String],
      value: String,
      sequenceBy: String
  ): DataFrame =
    ChangelogOperations.fromDebezium(df, key.asScala.toSeq, value, Option(sequenceBy))

  /** One row for each key and batch; an empty key: the one that is known. */
  def toUpserts(df: DataFrame, key: JList[String]): DataFrame =
    ChangelogOperations.toUpserts(df, key.asScala.toSeq)

  private def joined(left: DataFrame, right: DataFrame, on: Any, how: String): DataFrame =
    on match {
      case condition: Column => left.join(right, condition, how)
      case condition: String => left.join(right, functions.expr(condition), how)
      case columns: JList[_] => left.join(right, columns.asScala.map(_.toString).toSeq, how)
      case other             => throw new IllegalArgumentException(s"no condition: $other")
    }

  /** Where a query has its checkpoint. */
  def checkpointOf(query: StreamingQuery): String = QueryCheckpoint.of(query)
}
