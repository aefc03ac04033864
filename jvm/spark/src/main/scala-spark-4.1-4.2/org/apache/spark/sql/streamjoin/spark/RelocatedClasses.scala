package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.catalyst.expressions
import org.apache.spark.sql.catalyst.plans.logical
import org.apache.spark.sql.execution.streaming.operators.stateful
import org.apache.spark.sql.execution.streaming.{checkpointing, runtime, sinks}

/** Aliases of classes that Spark 4.1 has moved or renamed, for Spark 4.1 and later. */
private[streamjoin] trait RelocatedClasses {

  type CheckpointFileManager = checkpointing.CheckpointFileManager
  lazy val CheckpointFileManager = checkpointing.CheckpointFileManager
  type CommitLog = checkpointing.CommitLog
  type OffsetSeqLog = checkpointing.OffsetSeqLog
  type OffsetSeqMetadata = checkpointing.OffsetSeqMetadata
  lazy val OffsetSeqMetadata = checkpointing.OffsetSeqMetadata

  type EventTimeStatsAccum = stateful.EventTimeStatsAccum
  type EventTimeWatermarkExec = stateful.EventTimeWatermarkExec
  type StateStoreWriter = stateful.StateStoreWriter
  type StatefulOpStateStoreCheckpointInfo = stateful.StatefulOpStateStoreCheckpointInfo
  lazy val StatefulOpStateStoreCheckpointInfo = stateful.StatefulOpStateStoreCheckpointInfo
  type StatefulOperatorStateInfo = stateful.StatefulOperatorStateInfo
  lazy val StatefulOperatorStateInfo = stateful.StatefulOperatorStateInfo

  type FlatMapGroupsWithStateExec = stateful.flatmapgroupswithstate.FlatMapGroupsWithStateExec

  type StreamingSymmetricHashJoinExec = stateful.join.StreamingSymmetricHashJoinExec
  lazy val StreamingSymmetricHashJoinHelper = stateful.join.StreamingSymmetricHashJoinHelper

  type IncrementalExecution = runtime.IncrementalExecution
  lazy val StreamingCheckpointConstants = runtime.StreamingCheckpointConstants
  type StreamingQueryWrapper = runtime.StreamingQueryWrapper
  type StreamingRelation = runtime.StreamingRelation
  type WatermarkPropagator = runtime.WatermarkPropagator
  lazy val WatermarkPropagator = runtime.WatermarkPropagator

  type FileStreamSink = sinks.FileStreamSink

  type TimestampAddInterval = expressions.TimestampAddInterval
  lazy val TimestampAddInterval = expressions.TimestampAddInterval

  type TransformWithStateInPySpark = logical.TransformWithStateInPySpark
}
