package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.{StoredNumbers, StoredState}
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.spark.StateStore

import io.streamjoin.model.Side
import io.streamjoin.state.JoinState

/**
 * State of one partition from the start of a batch to its end.
 *
 * @param makeVersion commits the changes of the store as its next version
 * @param started the time at which the batch started in this partition, in nanoseconds
 */
private[physical] final class OpenPartition(
    partition: Int,
    store: StateStore,
    state: StoredState,
    maxBufferedRows: Long,
    makeVersion: () => Unit,
    started: Long
) {

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
    makeVersion()
    val ofState = Map(
      "allUpdatesTimeMs" -> updating,
      "commitTimeMs" -> millisSince(committing),
      "numTotalStateRows" -> (left + right),
      "numUpdatedStateRows" -> kept,
      "numStateStoreInstances" -> 1L,
      "stateMemory" -> store.metrics.memoryUsedBytes,
      "spilledBytes" -> spilled
    )
    report.add(partition, counts ++ ofState, received, base.lastActiveMs)
  }

  private def millisSince(nanos: Long): Long = (System.nanoTime - nanos) / 1000000L
}
