package io.streamjoin

import java.util.{List => JList, Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streamjoin.Version
import org.apache.spark.sql.streamjoin.api.{ChangelogOperations, DataFrameOperations}
import org.apache.spark.sql.streamjoin.checkpoint.pending.QueryCheckpoint
import org.apache.spark.sql.streamjoin.rescale.Rescale
import org.apache.spark.sql.{functions, Column, DataFrame, SparkSession}
import org.apache.spark.sql.streaming.StreamingQuery

/**
 * Entry point of the Python package. It has plain types only, for py4j.
 *
 * Each method returns an analyzed DataFrame, or throws an `AnalysisException` with a condition
 * `STREAM_JOIN.*`. Options that are not in a map have their defaults.
 */
object PythonApi {

  /** The version of the jar. */
  def version(): String = Version.current

  /** Describes the problem of a session in a sentence; null if there is none. */
  def check(session: SparkSession): String =
    Version.problem(session.version).orElse(DataFrameOperations.check(session)).orNull

  /**
   * Imposes an order on a column, with the options of `IMPOSE_ORDER` by name.
   *
   * @param column a top-level column with times or integers (TINYINT to BIGINT)
   * @param options `lag`, which is required (an interval as text, or an integer in the unit of a
   *   numeric column); `idle_timeout` and `max_ahead` (intervals; none by default); `ahead`
   *   (`reject`, the default, or `keep`)
   */
  def imposeOrder(df: DataFrame, column: String, options: JMap[String, Any]): DataFrame =
    DataFrameOperations.imposeOrder(df, column, options.asScala.toSeq)

  /**
   * Joins two DataFrames with options by name.
   *
   * @param on a Column, a condition in SQL, or a list of column names. The output has one copy of
   *   each listed column
   * @param how a join type, as in `Dataset.join`
   * @param options options of the hint `STREAM_JOIN`: `retention`, `late`, `mode`, `emit`,
   *   `state_ttl`, `match`, `order_scope`; see [[org.apache.spark.sql.streamjoin.logical.plan.JoinOptions]]
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
   * Declares rows with a change kind as a changelog.
   *
   * @param key the unique key. If empty, all columns identify a row, and equal rows are counted
   * @param op the column with the change kinds
   * @param mapping the kind of each word in that column; if empty, the words of Spark, Flink and
   *   Iceberg
   * @param sequenceBy the column that orders the changes of a key; if null, `_commit_version`, if
   *   there is one
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
   * Declares rows as a changelog in which each row is the latest image of its key.
   *
   * @param deletes the condition of rows that delete their key; null if there are none
   */
  def fromUpserts(
      df: DataFrame,
      key: JList[String],
      sequenceBy: String,
      deletes: Column
  ): DataFrame =
    ChangelogOperations.fromUpserts(df, key.asScala.toSeq, sequenceBy, Option(deletes))

  /**
   * Declares Debezium's messages as a changelog.
   *
   * @param key columns of the row that identify it
   * @param value the column with the messages
   * @param sequenceBy a path in the message, or a column beside it; if null, `offset`
   */
  def fromDebezium(
      df: DataFrame,
      key: JList[String],
      value: String,
      sequenceBy: String
  ): DataFrame =
    ChangelogOperations.fromDebezium(df, key.asScala.toSeq, value, Option(sequenceBy))

  /** Emits one row for each key and batch. An empty key means the known key of the changelog. */
  def toUpserts(df: DataFrame, key: JList[String]): DataFrame =
    ChangelogOperations.toUpserts(df, key.asScala.toSeq)

  private def joined(left: DataFrame, right: DataFrame, on: Any, how: String): DataFrame =
    on match {
      case condition: Column => left.join(right, condition, how)
      case condition: String => left.join(right, functions.expr(condition), how)
      case columns: JList[_] => left.join(right, columns.asScala.map(_.toString).toSeq, how)
      case other             => throw new IllegalArgumentException(s"no condition: $other")
    }

  /** The checkpoint folder of a query. */
  def checkpointOf(query: StreamingQuery): String = QueryCheckpoint.of(query)

  /**
   * Writes a new checkpoint of a stopped query, with another number of partitions.
   *
   * @param to the folder of the new checkpoint, which is empty or does not exist
   * @return a line for each join and ordered output
   */
  def rescale(
      session: SparkSession,
      checkpoint: String,
      to: String,
      partitions: Int
  ): JList[String] =
    Rescale(session, checkpoint, to, partitions).asJava
}
