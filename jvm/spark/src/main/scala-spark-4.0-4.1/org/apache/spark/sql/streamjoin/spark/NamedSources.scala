package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.DataStreamReader

/** Names of the sources of a query (`readStream.name`). This version of Spark has none. */
private[streamjoin] object NamedSources {

  def nameOf(leaf: LogicalPlan): Option[String] = None

  /** Whether Spark finds the offsets of a source by its name: here, by its place in the query. */
  def findOffsets(log: OffsetSeqLog, batch: Long): Boolean = false

  /** The reader of a stream with a name for its source: here, without one. */
  def named(reader: DataStreamReader, name: String): DataStreamReader = reader

  /** Whether no source has delivered a row up to the end of a batch. */
  def haveDeliveredNothing(log: OffsetSeqLog, batch: Long): Boolean =
    log.get(batch).exists(_.offsets.forall(_.isEmpty))
}
