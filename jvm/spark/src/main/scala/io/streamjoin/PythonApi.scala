package io.streamjoin

import java.util.{List => JList, Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streamjoin.api.DataFrameOperations
import org.apache.spark.sql.streamjoin.checkpoint.pending.PendingRows
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
    DataFrameOperations.streamJoin(left, options.asScala.toSeq) { asked =>
      on match {
        case condition: Column => asked.join(right, condition, how)
        case condition: String => asked.join(right, functions.expr(condition), how)
        case columns: JList[_] => asked.join(right, columns.asScala.map(_.toString).toSeq, how)
        case other             => throw new IllegalArgumentException(s"no condition: $other")
      }
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
