package org.apache.spark.sql.streamjoin

import org.apache.spark.sql.catalyst.optimizer
import org.apache.spark.sql.execution.streaming.state
import org.apache.spark.{scheduler, shuffle, storage}

/**
 * All contact with internals of Spark that change between its versions. Other packages import these
 * names from here. LayersSuite lists the exceptions.
 *
 *  - Classes that need no adaptation have aliases, for the type, the companion, or both.
 *  - If versions differ, an object or trait here has one interface, and one body in each folder
 *    `scala-spark-*`.
 */
package object spark extends spark.RelocatedClasses {

  type MapStatus = scheduler.MapStatus
  lazy val MapStatus = scheduler.MapStatus
  type SparkListener = scheduler.SparkListener
  type SparkListenerEvent = scheduler.SparkListenerEvent

  type MetadataFetchFailedException = shuffle.MetadataFetchFailedException
  type ShuffleWriteProcessor = shuffle.ShuffleWriteProcessor

  type SortShuffleManager = shuffle.sort.SortShuffleManager

  lazy val BooleanSimplification = optimizer.BooleanSimplification
  lazy val ConstantFolding = optimizer.ConstantFolding
  lazy val EliminateOuterJoin = optimizer.EliminateOuterJoin
  lazy val InferFiltersFromConstraints = optimizer.InferFiltersFromConstraints
  type InlineCTE = optimizer.InlineCTE
  lazy val NestedColumnAliasing = optimizer.NestedColumnAliasing
  lazy val NormalizeFloatingNumbers = optimizer.NormalizeFloatingNumbers
  lazy val NormalizeNaNAndZero = optimizer.NormalizeNaNAndZero
  lazy val PullupCorrelatedPredicates = optimizer.PullupCorrelatedPredicates
  lazy val PushExtraPredicateThroughJoin = optimizer.PushExtraPredicateThroughJoin
  lazy val PushPredicateThroughJoin = optimizer.PushPredicateThroughJoin
  lazy val ReplaceExpressions = optimizer.ReplaceExpressions
  lazy val RewritePredicateSubquery = optimizer.RewritePredicateSubquery

  type KeyStateEncoderSpec = state.KeyStateEncoderSpec
  type NoPrefixKeyStateEncoderSpec = state.NoPrefixKeyStateEncoderSpec
  lazy val NoPrefixKeyStateEncoderSpec = state.NoPrefixKeyStateEncoderSpec
  type OperatorInfoV1 = state.OperatorInfoV1
  lazy val OperatorInfoV1 = state.OperatorInfoV1
  type OperatorStateMetadata = state.OperatorStateMetadata
  lazy val OperatorStateMetadataReader = state.OperatorStateMetadataReader
  lazy val OperatorStateMetadataWriter = state.OperatorStateMetadataWriter
  type OperatorStateMetadataV2 = state.OperatorStateMetadataV2
  lazy val OperatorStateMetadataV2 = state.OperatorStateMetadataV2
  type RangeKeyScanStateEncoderSpec = state.RangeKeyScanStateEncoderSpec
  lazy val RangeKeyScanStateEncoderSpec = state.RangeKeyScanStateEncoderSpec
  type RocksDBStateStoreProvider = state.RocksDBStateStoreProvider
  type StateSchemaCompatibilityChecker = state.StateSchemaCompatibilityChecker
  lazy val StateSchemaCompatibilityChecker = state.StateSchemaCompatibilityChecker
  type StateSchemaProvider = state.StateSchemaProvider
  type StateSchemaValidationResult = state.StateSchemaValidationResult
  type StateStore = state.StateStore
  lazy val StateStore = state.StateStore
  type StateStoreCheckpointInfo = state.StateStoreCheckpointInfo
  lazy val StateStoreCheckpointInfo = state.StateStoreCheckpointInfo
  type StateStoreColFamilySchema = state.StateStoreColFamilySchema
  lazy val StateStoreColFamilySchema = state.StateStoreColFamilySchema
  type StateStoreConf = state.StateStoreConf
  lazy val StateStoreConf = state.StateStoreConf
  type StateStoreCoordinatorRef = state.StateStoreCoordinatorRef
  lazy val StateStoreCoordinatorRef = state.StateStoreCoordinatorRef
  lazy val StateStoreErrors = state.StateStoreErrors
  type StateStoreId = state.StateStoreId
  lazy val StateStoreId = state.StateStoreId
  type StateStoreIterator[A] = state.StateStoreIterator[A]
  type StateStoreMetadataV2 = state.StateStoreMetadataV2
  lazy val StateStoreMetadataV2 = state.StateStoreMetadataV2
  type StateStoreMetrics = state.StateStoreMetrics
  lazy val StateStoreMetrics = state.StateStoreMetrics
  type StateStoreProvider = state.StateStoreProvider
  lazy val StateStoreProvider = state.StateStoreProvider
  type StateStoreProviderId = state.StateStoreProviderId
  lazy val StateStoreProviderId = state.StateStoreProviderId
  type UnsafeRowPair = state.UnsafeRowPair

  type ShuffleBlockId = storage.ShuffleBlockId
  type StorageLevel = storage.StorageLevel
  lazy val StorageLevel = storage.StorageLevel
}
