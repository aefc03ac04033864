package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.spark.{StateStoreConf, StateStoreId}
import org.apache.spark.sql.types.StructType

import io.streamjoin.model.Side

/**
 * A version of one partition's state as it lies in the checkpoint.
 *
 * @param number the version
 * @param checkpointId which of several files or snapshots of that version, where Spark has noted it
 * @param rows the columns of each side's rows
 * @param conf the settings with which it is read
 */
private[streamjoin] final case class StoredVersion(
    store: StateStoreId,
    number: Long,
    checkpointId: Option[String],
    rows: Map[Side, StructType],
    conf: StateStoreConf
)

/**
 * A row as a checkpoint holds it.
 *
 * @param key the hash of its equality key
 * @param limits the watermarks above which it goes
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
 * What a version holds, read without a trace: no lock, no file of the checkpoint that is written.
 *
 * @param watermarks by side and limit, those of the last eviction
 * @param rows none of which counts after it was closed
 */
private[streamjoin] final case class StoredRows(
    watermarks: Side => Int => Long,
    rows: Iterator[StoredRow],
    close: () => Unit
)
