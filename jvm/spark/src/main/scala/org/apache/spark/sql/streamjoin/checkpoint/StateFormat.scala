package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.spark.{StateStore, StateStoreColFamilySchema, StateStoreConf}
import org.apache.spark.sql.types.{BooleanType, StructType}

import io.streamjoin.model.Side
import io.streamjoin.state.{JoinState, Watched}

/** Where and how the buffered rows of a partition lie between batches. */
private[streamjoin] trait StateFormat extends Serializable {

  /** As it is chosen by `spark.sql.streamJoin.stateFormat`. */
  final def name: String = number.format

  /** The number that stands for all that is written. */
  def number: FormatNumber

  /** The schemas that Spark writes beside the state and validates. */
  def schemas(row: Side => StructType): Map[String, StateStoreColFamilySchema]

  /**
   * The settings of the store, whatever provider the session has.
   *
   * @param commitsAreChecked whether Spark looks which stores have committed, so that they have to report it;
   *   where it does not they are not asked to, whatever the session says
   */
  def settings(session: SQLConf, commitsAreChecked: Boolean = true): StateStoreConf

  /** What a committed version holds, for whoever wants to look at it. */
  def read(version: StoredVersion, hadoopConf: Configuration): StoredRows

  /** The rows in a store of this format. */
  def open(store: StateStore, shape: StateShape): StoredState
}

private[streamjoin] object StateFormat {

  /** The column family that the rows of a side are described in. */
  def rowsFamily(side: Side): String = s"rows-${side.name}"

  /**
   * A row as it is described to Spark. Whether a column may be NULL differs from batch to batch, with
   * what the optimizer can see.
   */
  def rowValue(row: StructType): StructType = new StructType()
    .add("matched", BooleanType, nullable = false)
    .add("row", row.asNullable, nullable = false)
}

/**
 * What a format must know of the rows that it is to hold.
 *
 * @param schema the columns of each side's rows
 * @param limits how many limits a row of each side has
 * @param span how far apart the limits of rows may be that lie together
 * @param limitsOf the limits of a row, which may depend on whether it is marked as matched
 * @param timeIndex whether rows of a side and a key are often looked for by one time, so that it shall
 *   not cost a walk over the others of the key
 * @param watched of what else than limits a state in memory tells the least
 * @param renewed whether rows of a side may have been kept with other limits than `limitsOf` gives them now: by
 *   an age that the query had before it was started anew
 */
private[streamjoin] final case class StateShape(
    schema: Side => StructType,
    limits: Side => Int,
    span: Side => Long,
    limitsOf: (Side, UnsafeRow, Boolean) => Array[Long],
    timeIndex: Side => Boolean = _ => false,
    watched: Side => Watched[UnsafeRow] = _ => Watched.nothing[UnsafeRow],
    renewed: Side => Boolean = _ => false
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
