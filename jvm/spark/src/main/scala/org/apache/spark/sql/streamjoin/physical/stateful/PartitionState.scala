package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.streamjoin.checkpoint.formats.SegmentsIntoRocksDB
import org.apache.spark.sql.streamjoin.checkpoint.{StateFormat, StateShape, StoredNumbers}
import org.apache.spark.sql.streamjoin.spark.{
  StateStore,
  StateStoreConf,
  StateStoreId,
  StateStoreProviderId,
  StatefulOpStateStoreCheckpointInfo,
  StatefulOperatorStateInfo
}
import org.apache.spark.util.{CollectionAccumulator, SerializableConfiguration}

/**
 * Access of the tasks of one batch to the state of their partitions.
 *
 * @param maxBufferedRows the largest number of rows of a partition at the end of a batch; 0: no
 *   limit
 * @param takeOver converts state of another format
 * @param checkpoints collects the IDs of the committed versions, if Spark's checkpoints have such
 *   IDs
 */
private[physical] final class PartitionState(
    val info: StatefulOperatorStateInfo,
    format: StateFormat,
    maxBufferedRows: Long,
    settings: StateStoreConf,
    hadoopConf: Broadcast[SerializableConfiguration],
    checkpoints: Option[CollectionAccumulator[StatefulOpStateStoreCheckpointInfo]],
    takeOver: Option[SegmentsIntoRocksDB]
) extends Serializable {

  /** Opens the state of a partition, at the version with which the batch starts. */
  def open(partition: Int, shape: StateShape): OpenPartition = {
    val started = System.nanoTime
    val id = StateStoreId(info.checkpointLocation, info.operatorId, partition)
    val opened = takeOver.fold(store(partition))(
      _.opened(id, info.storeVersion, shape, hadoopConf.value.value)(store(partition))
    )
    new OpenPartition(
      partition,
      opened,
      format.open(opened, shape),
      maxBufferedRows,
      () => commit(opened),
      started
    )
  }

  private def store(partition: Int): StateStore = {
    val id = StateStoreProviderId(info, partition, StateStoreId.DEFAULT_STORE_NAME)
    val checkpoint = info.getStateStoreCkptId(partition).map(_.head)
    StateStore.get(
      id,
      StoredNumbers.key,
      StoredNumbers.value,
      StoredNumbers.encoder,
      info.storeVersion,
      checkpoint,
      stateSchemaBroadcast = None,
      useColumnFamilies = true,
      settings,
      hadoopConf.value.value
    )
  }

  private def commit(store: StateStore): Unit = {
    store.commit()
    checkpoints.foreach { accumulator =>
      val info = store.getStateStoreCheckpointInfo()
      accumulator.add(
        StatefulOpStateStoreCheckpointInfo(
          info.partitionId,
          info.batchVersion,
          info.stateStoreCkptId.map(Array(_)),
          info.baseStateStoreCkptId.map(Array(_))
        )
      )
    }
  }
}
