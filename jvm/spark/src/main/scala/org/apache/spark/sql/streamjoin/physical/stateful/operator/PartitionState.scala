package org.apache.spark.sql.streamjoin.physical.stateful.operator

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreConf,
  StateStoreId,
  StateStoreProviderId
}
import org.apache.spark.sql.streamjoin.checkpoint.formats.SegmentsIntoRocksDB
import org.apache.spark.sql.streamjoin.checkpoint.{StateFormat, StateShape, StoredNumbers}
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.physical.stateful.shown.{BatchReport, PartitionReport}
import org.apache.spark.sql.streamjoin.run.OpenStores
import org.apache.spark.sql.streamjoin.spark.{
  StatefulOpStateStoreCheckpointInfo,
  StatefulOperatorStateInfo
}
import org.apache.spark.util.{CollectionAccumulator, SerializableConfiguration}

import io.streamjoin.model.Side
import io.streamjoin.state.JoinState

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
  def open(partition: Int, shape: StateShape): OpenPartition = new OpenPartition(partition, shape)

  /** The path of the state of a partition. */
  def location(partition: Int): String = storeId(partition).storeCheckpointLocation().toString

  private def storeId(partition: Int) =
    StateStoreId(info.checkpointLocation, info.operatorId, partition)

  /** State of one partition from the start of a batch to its end. */
  final class OpenPartition private[PartitionState] (partition: Int, shape: StateShape) {
    private val started = System.nanoTime
    private val store = opened(partition, shape)
    private val ofRun = OpenStores.of(info)
    private val state = format.open(store, shape)
    ofRun.add(partition)(state.letGo())

    val rows: JoinState[UnsafeRow] = state.rows

    /** Numbers that are committed in the same version. */
    val numbers: StoredNumbers = new StoredNumbers(store)

    /**
     * Ends the batch: commits rows and watermarks as one version. Throws if the partition has more
     * rows than `maxBufferedRows`.
     *
     * @param counts the counts of the operator
     * @param base the watermarks of the source columns
     * @param received the watermarks of the operator at the end of the batch
     */
    def commit(
        report: BatchReport,
        counts: Map[String, Long],
        base: BaseWatermarks,
        received: Array[Long]
    ): Unit = {
      base.save(numbers)
      val (left, right) = (rows.size(Side.Left), rows.size(Side.Right))
      if (maxBufferedRows > 0 && left + right > maxBufferedRows) {
        throw StreamJoinErrors.runtime(
          "BUFFER_LIMIT_EXCEEDED",
          "partition" -> partition.toString,
          "rows" -> (left + right).toString,
          "left" -> left.toString,
          "right" -> right.toString,
          "limit" -> maxBufferedRows.toString
        )
      }
      val (kept, spilled) = (state.flush(), state.spilled())
      val updating = millisSince(started)
      val committing = System.nanoTime
      makeVersion(store)
      val ofState = Map(
        "allUpdatesTimeMs" -> updating,
        "commitTimeMs" -> millisSince(committing),
        "numTotalStateRows" -> (left + right),
        "numUpdatedStateRows" -> kept,
        "numStateStoreInstances" -> 1L,
        "stateMemory" -> store.metrics.memoryUsedBytes,
        "spilledBytes" -> spilled
      )
      val own = PartitionReport(counts ++ ofState, received, base.lastActiveMs)
      report.add(partition, own, base.grouped)
    }

    private def millisSince(nanos: Long): Long = (System.nanoTime - nanos) / 1000000L
  }

  private def opened(partition: Int, shape: StateShape): StateStore =
    takeOver.fold(get(partition))(
      _.opened(storeId(partition), info.storeVersion, shape, hadoopConf.value.value)(
        get(partition)
      )
    )

  private def get(partition: Int): StateStore = {
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

  private def makeVersion(store: StateStore): Unit = {
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
