package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{StateStoreConf, StateStoreId}
import org.apache.spark.sql.types.StructType

import io.streamjoin.model.{BySide, Side, Watermarks}

/**
 * A version of one partition's state in the checkpoint, to be read or written.
 *
 * @param number the version
 * @param checkpointId ID of the file or snapshot of that version, if Spark records one
 * @param rows columns of each side's rows
 * @param conf settings for reading it, or [[StateFormat.settingsOfNew]]
 */
private[streamjoin] final case class StoredVersion(
    store: StateStoreId,
    number: Long,
    checkpointId: Option[String],
    rows: BySide[StructType],
    conf: StateStoreConf
)

/**
 * A row in a checkpoint.
 *
 * @param key hash of its equality key
 * @param limits for each watermark, the value above which the row is evicted
 */
private[streamjoin] final case class StoredRow(
    side: Side,
    key: Long,
    time: Long,
    limits: Array[Long],
    matched: Boolean,
    row: UnsafeRow
)

/**
 * Contents of a version. Reading them takes no lock and writes no file of the checkpoint.
 *
 * @param numbers the named numbers of the operator
 * @param evicted the watermarks of the last eviction, by side and limit. Those of the last limits
 *   may be absent if they are unknown
 * @param rows the rows; invalid after `close`
 */
private[streamjoin] final case class StoredRows(
    numbers: Map[String, Long],
    evicted: Side => Array[Long],
    rows: Iterator[StoredRow],
    close: () => Unit
) {

  /** The watermark of the last eviction by a limit. */
  def watermark(side: Side): Int => Long =
    evicted(side).applyOrElse(_, (_: Int) => Watermarks.Unknown)
}
