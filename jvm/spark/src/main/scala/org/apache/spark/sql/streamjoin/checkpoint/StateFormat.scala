package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreColFamilySchema,
  StateStoreConf,
  StateStoreProvider
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{BooleanType, StructType}

import io.streamjoin.model.Side
import io.streamjoin.state.JoinState

/** Format in which the buffered rows of a partition are stored between batches. */
private[streamjoin] trait StateFormat extends Serializable {

  /** Value of `spark.sql.streamJoin.stateFormat` that selects this format. */
  def name: String

  /** The schemas that Spark writes beside the state and validates. */
  final def schemas(row: Side => StructType): Seq[StateStoreColFamilySchema] =
    StoredNumbers.schema +: Side.both.flatMap(side => families(side, row(side)))

  /** The column families with the rows of a side. */
  protected def families(side: Side, row: StructType): Seq[StateStoreColFamilySchema]

  /** Settings of the state store. They override the provider of the session. */
  final def settings(session: SQLConf): StateStoreConf = {
    val own = session.clone()
    own.setConfString(SQLConf.STATE_STORE_PROVIDER_CLASS.key, provider.getName)
    own.setConfString(SQLConf.STREAMING_STATE_STORE_ENCODING_FORMAT.key, "unsaferow")
    for ((key, value) <- defaults if !session.contains(key)) own.setConfString(key, value)
    new StateStoreConf(own, options(session))
  }

  protected def provider: Class[_ <: StateStoreProvider]

  /** Settings of Spark that apply unless the session has others. */
  protected def defaults: Map[String, String] = Map.empty

  /** Settings of the session that executors require. */
  protected def options(session: SQLConf): Map[String, String] = Map.empty

  /**
   * Reads a committed version without changing it.
   *
   * @param inUse whether a running query may delete its files meanwhile. If so, the rows may be
   *   loaded into memory. If not, they are read one by one
   */
  def read(version: StoredVersion, hadoopConf: Configuration, inUse: Boolean): StoredRows

  /** Settings with which [[write]] writes a version. */
  def settingsOfNew(session: SQLConf): StateStoreConf = settings(session)

  /**
   * Writes rows as the first version of a partition, without an earlier one.
   *
   * @param content what is written. Its watermarks are those of all limits
   * @param count the number of rows
   */
  def write(
      version: StoredVersion,
      content: StoredRows,
      count: Long,
      hadoopConf: Configuration
  ): Unit

  /** Opens the rows in a store of this format. */
  def open(store: StateStore, shape: StateShape): StoredState
}

private[streamjoin] object StateFormat {

  /** Name of the column family in which Spark has the schema of a side's rows. */
  def rowsFamily(side: Side): String = s"rows-${side.name}"

  /**
   * Schema of a stored row, as registered with Spark. All columns are nullable, because Spark refuses
   * one that becomes nullable. [[StoredColumns]] has the nullability.
   */
  def rowValue(row: StructType): StructType = new StructType()
    .add("matched", BooleanType, nullable = false)
    .add("row", row.asNullable, nullable = false)
}

/**
 * The rows of one version of a store.
 *
 * @param flush hands the changes to the store and returns the number of new rows. Call it once,
 *   before the commit
 * @param spilled returns the number of bytes that are spilled to the local disk
 * @param letGo drops the rows that are in memory between batches
 */
private[streamjoin] final case class StoredState(
    rows: JoinState[UnsafeRow],
    flush: () => Long,
    spilled: () => Long,
    letGo: () => Unit
)
