package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.streamjoin.spark.{OffsetSeqLog, OffsetSeqMetadata, SparkFactories}

/** Plans a query as the first batch of a run does. */
private[streamjoin] object PlannedQuery {

  /**
   * The plan for a batch in which every source has rows. Nothing is written.
   *
   * @param own a clone of the session, whose settings become those of the checkpoint
   * @param states the folder of the states
   * @param log the offset log of the checkpoint
   */
  def of(
      own: SparkSession,
      query: LogicalPlan,
      mode: OutputMode,
      states: String,
      batch: Long,
      log: OffsetSeqLog
  ): SparkPlan = {
    val metadata = log.offsetSeqMetadataForBatchId(batch).getOrElse(OffsetSeqMetadata(0, 0))
    OffsetSeqMetadata.setSessionConf(metadata, own.sessionState.conf)
    own.conf.set(SQLConf.CBO_ENABLED.key, false)
    val planner = SparkFactories.execution(own, query, mode, states, batch, metadata)
    planner.state(planner.sparkPlan)
  }
}
