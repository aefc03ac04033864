package io.streamjoin

import java.util.{List => JList, Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streamjoin.Version
import org.apache.spark.sql.streamjoin.api.DataFrameOperations
import org.apache.spark.sql.streamjoin.checkpoint.pending.QueryCheckpoint
import org.apache.spark.sql.streamjoin.evolve.{Evolve, Told}
import org.apache.spark.sql.streamjoin.rescale.Rescale
import org.apache.spark.sql.streamjoin.warm.{History, WarmStart}
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
   * Imposes an order, declares changes, or consolidates them: the operation that a hint of this name
   * has in Spark Connect.
   *
   * @param name `impose_order`, `from_changelog`, `from_upserts`, `from_debezium` or `to_upserts`
   * @param arguments arguments without a name: the column and the lag of an order, or the condition
   *   of deletes
   * @param options pairs of a name and a value. A name may occur several times
   */
  def operation(
      df: DataFrame,
      name: String,
      arguments: JList[Any],
      options: JList[JList[String]]
  ): DataFrame =
    DataFrameOperations.operation(
      df,
      name,
      arguments.asScala.toSeq,
      options.asScala.toSeq.map(option => option.get(0) -> option.get(1))
    )

  /**
   * Joins two DataFrames with options by name.
   *
   * @param on a Column, a condition in SQL, or a list of column names. The output has one copy of
   *   each listed column
   * @param how a join type, as in `Dataset.join`
   * @param options options of the hint `STREAM_JOIN`: `retention`, `late`, `mode`, `emit`,
   *   `state_ttl`, `match`; see [[org.apache.spark.sql.streamjoin.logical.plan.options.JoinOptions]]
   */
  def streamJoin(
      left: DataFrame,
      right: DataFrame,
      on: Any,
      how: String,
      options: JMap[String, Any]
  ): DataFrame =
    DataFrameOperations.streamJoin(left, options.asScala.toSeq)(joined(_, right, on, how))

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

  /**
   * Writes a new checkpoint of a stopped query, from which a changed query continues.
   *
   * @param to the folder of the new checkpoint, which is empty or does not exist
   * @param rename the new names of stored columns, by their old ones
   * @param fill the values of added columns in stored rows, by their names
   * @param sources for a source of the changed query, that of the checkpoint; null: it is new
   * @param dryRun whether nothing is written
   * @return lines about each operator, and each source that changes
   */
  def evolve(
      checkpoint: String,
      to: String,
      changed: DataFrame,
      rename: JMap[String, String],
      fill: JMap[String, Any],
      sources: JMap[String, String],
      dryRun: Boolean
  ): JList[String] = {
    val old = sources.asScala.toMap.map { case (now, before) => now -> Option(before) }
    Evolve(
      checkpoint,
      to,
      changed,
      Told(rename.asScala.toMap, fill.asScala.toMap, old),
      dryRun
    ).asJava
  }

  /**
   * Writes the checkpoint of a query that starts from history.
   *
   * @param streams the streams that have a history
   * @param tables the history of each stream
   * @param offsets for each table, its columns with the partition and the offset, or no columns
   * @return a line for each stream, then for each join and ordered output
   */
  def warm(
      query: DataFrame,
      checkpoint: String,
      streams: JList[DataFrame],
      tables: JList[DataFrame],
      offsets: JList[JList[String]],
      outputMode: String,
      allowGap: Boolean
  ): JList[String] = {
    val histories = streams.asScala.toSeq.lazyZip(tables.asScala).lazyZip(offsets.asScala).map {
      (live, rows, columns) =>
        val names = Option.unless(columns.isEmpty)(columns.get(0) -> columns.get(1))
        History(live, rows, names)
    }
    WarmStart(query, checkpoint, histories, outputMode, allowGap).asJava
  }
}
