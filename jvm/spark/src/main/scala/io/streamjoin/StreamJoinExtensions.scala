package io.streamjoin

import org.apache.spark.sql.streamjoin.Version
import org.apache.spark.sql.streamjoin.api.ExtensionPoints
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}

/**
 * The extension: name it in `spark.sql.extensions`, or only put the jar on `spark.jars`, which
 * registers it by itself.
 *
 * What it adds, in the order in which a query meets it:
 *
 *  1. parsing: windows on relations, `t OVER (RANGE ...)`, `SELECT STREAM`, and the hint `STREAM_JOIN`;
 *  1. hint resolution: `IMPOSE_ORDER(TABLE(t), DESCRIPTOR(c), lag)` becomes a plan node, before Spark
 *     looks for a function `DESCRIPTOR`; so do the hints `stream_join` and `impose_order`, and what is above
 *     a join that adds columns waits for them;
 *  1. resolution: orders are imposed, common table expressions with one put in their places; windows
 *     and parts of WHERE become bounds of the joins they bound, sub-queries over streams semi and anti
 *     joins; a join of streams with an imposed order becomes the stream join, or is refused; `ROWTIME`
 *     is found;
 *  1. check: a window or a hint that no join has taken in is refused;
 *  1. optimization: filters above the join go below it where that changes nothing, and structs are cut
 *     down to the fields that are asked for;
 *  1. planning: the physical operators; a join of Spark's that keeps rows for ever, below or above an
 *     order, is refused.
 *
 * Applied twice, it changes nothing: every rule leaves alone what another copy of it has done.
 */
class StreamJoinExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    Version.requireSpark(org.apache.spark.SPARK_VERSION)
    ExtensionPoints.inject(extensions)
  }
}
