package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreColFamilySchema,
  StateStoreConf
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.checkpoint.rocksdb.RocksDBFormat
import org.apache.spark.sql.streamjoin.checkpoint.segment.SegmentFormat
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.types.{BooleanType, StructType}

import io.streamjoin.model.Side
import io.streamjoin.state.JoinState

/** Where and how the buffered rows of a partition lie between batches. */
private[streamjoin] trait StateFormat extends Serializable {

  /** As it is chosen by `spark.sql.streamJoin.stateFormat`. */
  def name: String

  /**
   * Stands for all that a checkpoint holds of ours: files, keys, numbers, the description. It is raised
   * whenever code of this version could not go on from what the next one writes, or the next one not
   * from what this one has written.
   */
  def version: Int

  /** Refuses what was written under another number. */
  final def checkVersion(location: String, found: Option[Long]): Unit =
    if (!found.contains(version.toLong)) {
      throw StreamJoinErrors.incompatibleCheckpoint(
        location,
        "its state was written by another version of streamjoin, in a format that this one does " +
          "not read",
        found.fold(s"format $name without a number")(v => s"format $name $v"),
        s"format $name $version"
      )
    }

  /** The schemas that Spark writes beside the state and validates. */
  def schemas(row: Side => StructType): Map[String, StateStoreColFamilySchema]

  /** The settings of the store, whatever provider the session has. */
  def settings(session: SQLConf): StateStoreConf

  /** What a committed version holds, for whoever wants to look at it. */
  def read(version: StoredVersion, hadoopConf: Configuration): StoredRows

  /** The rows in a store of this format. */
  def open(store: StateStore, shape: StateShape): StoredState
}

private[streamjoin] object StateFormat {

  val all: Seq[StateFormat] = Seq(SegmentFormat, RocksDBFormat)

  /** The column family that the rows of a side are described in. */
  def rowsFamily(side: Side): String = s"rows-${side.name}"

  /**
   * A row as it is described to Spark. Whether a column may be NULL differs from batch to batch, with
   * what the optimizer can see.
   */
  def rowValue(row: StructType): StructType = new StructType()
    .add("matched", BooleanType, nullable = false)
    .add("row", row.asNullable, nullable = false)

  def of(name: String): StateFormat =
    all.find(_.name == name).getOrElse(throw new NoSuchElementException(s"no state format $name"))
}

/**
 * What a format must know of the rows that it is to hold.
 *
 * @param schema the columns of each side's rows
 * @param limits how many limits a row of each side has
 * @param span how far apart the limits of rows may be that lie together
 * @param limitsOf the limits of a row
 */
private[streamjoin] final case class StateShape(
    schema: Side => StructType,
    limits: Side => Int,
    span: Side => Long,
    limitsOf: (Side, UnsafeRow) => Array[Long]
)

/**
 * The rows of one version of a store.
 *
 * @param flush hands what has changed to the store, to be called once before it commits; tells how many
 *   rows are new
 * @param spilled tells how many bytes lie on the local disk because memory is short
 */
private[streamjoin] final case class StoredState(
    rows: JoinState[UnsafeRow],
    flush: () => Long,
    spilled: () => Long
)
