package io.streamjoin

import java.util.{List => JList, Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streamjoin.Version
import org.apache.spark.sql.streamjoin.api.{ChangelogOperations, DataFrameOperations}
import org.apache.spark.sql.streamjoin.checkpoint.pending.QueryCheckpoint
import org.apache.spark.sql.{functions, Column, DataFrame, SparkSession}
import org.apache.spark.sql.streaming.StreamingQuery

/** What the Python package calls. Plain types only, for py4j. */
object PythonApi {

  /** The version of the jar. */
  def version(): String = Version.current

  /** What is wrong with the session as a sentence, or null. */
  def check(session: SparkSession): String = DataFrameOperations.check(session).orNull

  /** Imposes an order on a column, with the options of `IMPOSE_ORDER` by name. */
  def imposeOrder(df: DataFrame, column: String, options: JMap[String, Any]): DataFrame =
    DataFrameOperations.imposeOrder(df, column, options.asScala.toSeq)

  /**
   * Joins with the options of a join by name.
   *
   * @param on a Column; a condition written in SQL; or a list of column names, of which one copy
   *   comes out
   */
  def streamJoin(
      left: DataFrame,
      right: DataFrame,
      on: Any,
      how: String,
      options: JMap[String, Any]
  ): DataFrame =
    DataFrameOperations.streamJoin(left, options.asScala.toSeq)(joined(_, right, on, how))

  /** Declares rows with a kind; `sequenceBy` may be null. */
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

  /** Declares latest images; `deletes` may be null. */
  def fromUpserts(
      df: DataFrame,
      key: JList[String],
      sequenceBy: String,
      deletes: Column
  ): DataFrame =
    ChangelogOperations.fromUpserts(df, key.asScala.toSeq, sequenceBy, Option(deletes))

  /** Declares Debezium's envelopes; `sequenceBy` may be null. */
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
