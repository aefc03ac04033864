package org.apache.spark.sql.streamjoin.checkpoint.segment

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  StateSchemaProvider,
  StateStore,
  StateStoreConf,
  StateStoreId
}
import org.apache.spark.sql.streamjoin.spark.VersionedStores
import org.apache.spark.sql.types.StructType

import io.streamjoin.state.segment.pages.Spilling

/**
 * Provider of the stores of one [[StoredPartition]].
 *
 * @param spillingOf spill settings, from the settings of the store
 */
private[sql] final class SegmentStateStoreProvider(spillingOf: StateStoreConf => Spilling)
    extends VersionedStores {

  /** Spark calls this constructor through reflection. */
  def this() = this(LocalDisk.spilling)

  private var partition: StoredPartition = _

  override def init(
      stateStoreId: StateStoreId,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useColumnFamilies: Boolean,
      storeConfs: StateStoreConf,
      hadoopConf: Configuration,
      useMultipleValuesPerKey: Boolean,
      stateSchemaProvider: Option[StateSchemaProvider]
  ): Unit =
    partition =
      new StoredPartition(stateStoreId, storeConfs, hadoopConf, spillingOf(storeConfs))

  override def stateStoreId: StateStoreId = partition.storeId

  protected override def open(
      version: Long,
      checkpoint: Option[String],
      isEmpty: Boolean
  ): StateStore = new SegmentStateStore(partition, version, Option.when(!isEmpty)(checkpoint))

  override def doMaintenance(): Unit = partition.maintain()

  override def close(): Unit = partition.close()

  override def toString: String = s"SegmentStateStoreProvider[$stateStoreId]"
}
