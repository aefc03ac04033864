package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.catalyst.expressions
import org.apache.spark.sql.catalyst.plans.logical
import org.apache.spark.sql.execution.streaming

/** Aliases of classes that Spark 4.1 has moved or renamed, for Spark 4.0. */
private[streamjoin] trait RelocatedClasses {

  type CheckpointFileManager = streaming.CheckpointFileManager
  lazy val CheckpointFileManager = streaming.CheckpointFileManager
  type CommitLog = streaming.CommitLog
  type OffsetSeqLog = streaming.OffsetSeqLog
  type OffsetSeqMetadata = streaming.OffsetSeqMetadata
  lazy val OffsetSeqMetadata = streaming.OffsetSeqMetadata

  type EventTimeStatsAccum = streaming.EventTimeStatsAccum
  type EventTimeWatermarkExec = streaming.EventTimeWatermarkExec
  type StateStoreWriter = streaming.StateStoreWriter
  type StatefulOpStateStoreCheckpointInfo = streaming.StatefulOpStateStoreCheckpointInfo
  lazy val StatefulOpStateStoreCheckpointInfo = streaming.StatefulOpStateStoreCheckpointInfo
  type StatefulOperatorStateInfo = streaming.StatefulOperatorStateInfo
  lazy val StatefulOperatorStateInfo = streaming.StatefulOperatorStateInfo

  type FlatMapGroupsWithStateExec = streaming.FlatMapGroupsWithStateExec

  type StreamingSymmetricHashJoinExec = streaming.StreamingSymmetricHashJoinExec
  lazy val StreamingSymmetricHashJoinHelper = streaming.StreamingSymmetricHashJoinHelper

  type IncrementalExecution = streaming.IncrementalExecution
  lazy val StreamingCheckpointConstants = streaming.StreamingCheckpointConstants
  type StreamingQueryWrapper = streaming.StreamingQueryWrapper
  type StreamingRelation = streaming.StreamingRelation
  type WatermarkPropagator = streaming.WatermarkPropagator
  lazy val WatermarkPropagator = streaming.WatermarkPropagator

  type FileStreamSink = streaming.FileStreamSink

  type TimestampAddInterval = expressions.TimeAdd
  lazy val TimestampAddInterval = expressions.TimeAdd

  type TransformWithStateInPySpark = logical.TransformWithStateInPandas
}
