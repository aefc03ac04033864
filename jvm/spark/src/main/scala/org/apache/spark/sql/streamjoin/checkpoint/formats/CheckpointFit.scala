package org.apache.spark.sql.streamjoin.checkpoint.formats

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.streamjoin.checkpoint.{DescriptionComparison, JoinDescription}
import org.apache.spark.sql.streamjoin.errors.StateErrors
import org.apache.spark.sql.streamjoin.spark.{OperatorStateMetadata, OperatorStateMetadataV2}

/**
 * Whether a checkpoint belongs to the join that is about to go on from it.
 *
 * What decides which rows were kept, or already emitted, and where they are found must be as it was:
 * the type of the join, its keys, its times and what is proved of them. How the condition is written
 * does not matter. Lags may change; a watermark never goes back. So may the session's time zone, where
 * nothing of that depends on it.
 */
private[streamjoin] object CheckpointFit {

  /** @param mayTakeOver whether one format may go on in another, see [[SegmentsIntoRocksDB]] */
  def check(
      location: String,
      old: OperatorStateMetadata,
      now: OperatorStateMetadata,
      mayTakeOver: Boolean = false
  ): Unit =
    (old, now) match {
      case (o: OperatorStateMetadataV2, n: OperatorStateMetadataV2) =>
        val takesOver = mayTakeOver && SegmentsIntoRocksDB.applies(old, now)
        compare(location, o.operatorPropertiesJson, n.operatorPropertiesJson, takesOver)
      case _ =>
        throw StateErrors.incompatibleCheckpoint(
          location,
          "it was not written by this operator",
          old.toString,
          now.toString
        )
    }

  private def compare(location: String, old: String, now: String, takesOver: Boolean): Unit = {
    val comparison = new DescriptionComparison(location, old, now)
    // what the rest means depends on these
    if (!takesOver) comparison.require("format")
    JoinDescription.format(old).flatMap(StateFormats.find).foreach(
      _.number.check(location, JoinDescription.version(old).map(_.toLong))
    )
    comparison.requireAll()
  }

  /** Spark's own complaint about another schema, as one of ours. */
  def guard[T](location: String)(validation: => T): T =
    try validation
    catch {
      case e: SparkThrowable if String.valueOf(e.getCondition).startsWith("STATE_STORE") =>
        val parameters = e.getMessageParameters
        throw StateErrors.incompatibleCheckpoint(
          location,
          "its rows have other columns",
          String.valueOf(parameters.getOrDefault("storedValueSchema", parameters.toString)),
          String.valueOf(parameters.getOrDefault("newValueSchema", "those of this query")),
          e.asInstanceOf[Throwable]
        )
    }
}
