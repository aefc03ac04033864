package org.apache.spark.sql.streamjoin.checkpoint.formats

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.streaming.state.{
  OperatorStateMetadata,
  OperatorStateMetadataV2
}
import org.apache.spark.sql.streamjoin.checkpoint.{
  DescriptionComparison,
  JoinDescription,
  StoredColumns,
  StoredReferences
}
import org.apache.spark.sql.streamjoin.errors.StateErrors

/**
 * Checks whether a checkpoint fits the join that continues from it.
 *
 * Join type, keys, times and derived bounds must be unchanged. They decide which rows are buffered
 * or already emitted, and where buffered rows are. The following may change:
 *
 *  - the spelling of the condition
 *  - lags, since a watermark never decreases
 *  - the session time zone, if none of the above depends on it
 */
private[streamjoin] object CheckpointFit {

  /**
   * @param mayTakeOver whether state may change its format, see [[SegmentsIntoRocksDB]]
   */
  def check(
      location: String,
      old: OperatorStateMetadata,
      now: OperatorStateMetadata,
      mayTakeOver: Boolean = false
  ): Unit =
    (old, now) match {
      case (o: OperatorStateMetadataV2, n: OperatorStateMetadataV2) =>
        compare(location, o.operatorPropertiesJson, n.operatorPropertiesJson, mayTakeOver)
      case _ =>
        throw StateErrors.incompatibleCheckpoint(
          location,
          "it was not written by this operator",
          old.toString,
          now.toString
        )
    }

  private def compare(location: String, old: String, now: String, mayTakeOver: Boolean): Unit = {
    val comparison = new DescriptionComparison(location, old, now)
    // the meaning of all other parts depends on format and version
    if (!mayTakeOver || !SegmentsIntoRocksDB.applies(old, now)) comparison.require("format")
    JoinDescription.check(location, old)
    comparison.requireAll()
    StoredReferences.requireSame(location, old, now)
    StoredColumns.requireSame(location, old, now)
  }

  /** Converts Spark's error about another schema into an error of this project. */
  def guard[T](location: String)(validation: => T): T =
    try validation
    catch {
      case e: SparkThrowable if String.valueOf(e.getCondition).startsWith("STATE_STORE") =>
        val parameters = e.getMessageParameters
        throw StateErrors.otherQuery(
          location,
          "its rows have other columns",
          String.valueOf(parameters.getOrDefault("storedValueSchema", parameters.toString)),
          String.valueOf(parameters.getOrDefault("newValueSchema", "the columns of this query")),
          e.asInstanceOf[Throwable]
        )
    }
}
