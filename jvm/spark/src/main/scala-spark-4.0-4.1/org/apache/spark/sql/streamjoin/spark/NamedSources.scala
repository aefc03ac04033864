package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Names of the sources of a query (`readStream.name`). This version of Spark has none. */
private[streamjoin] object NamedSources {

  def nameOf(leaf: LogicalPlan): Option[String] = None

  /** Whether Spark finds the offsets of a source by its name: here, by its place in the query. */
  def findOffsets(log: OffsetSeqLog, batch: Long): Boolean = false
}
