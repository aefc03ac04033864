package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.HasStreamingSourceIdentifyingName
import org.apache.spark.sql.classic.DataStreamReader
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetMap
import org.apache.spark.sql.internal.SQLConf

/** Names of the sources of a query (`readStream.name`). */
private[streamjoin] object NamedSources {

  def nameOf(leaf: LogicalPlan): Option[String] = leaf match {
    case s: HasStreamingSourceIdentifyingName => s.sourceIdentifyingName.nameOpt
    case _                                    => None
  }

  /**
   * Whether Spark finds the offsets of a source by its name. Otherwise it finds them by the place of the
   * source in the query, also where sources have names: format 1 of the offset log is a list.
   */
  def findOffsets(log: OffsetSeqLog, batch: Long): Boolean = log.get(batch).exists {
    case offsets: OffsetMap =>
      val named = SQLConf.ENABLE_STREAMING_SOURCE_EVOLUTION
      OffsetSeqMetadata.readValueOpt(offsets.metadata, named).contains("true")
    case _ => false
  }

  /** The reader of a stream with a name for its source. */
  def named(reader: DataStreamReader, name: String): DataStreamReader = reader.name(name)

  /** Whether no source has delivered a row up to the end of a batch. */
  def haveDeliveredNothing(log: OffsetSeqLog, batch: Long): Boolean = log.get(batch).exists {
    case offsets: OffsetMap => offsets.offsetsMap.values.forall(_.isEmpty)
    case offsets            => offsets.offsets.forall(_.isEmpty)
  }
}
