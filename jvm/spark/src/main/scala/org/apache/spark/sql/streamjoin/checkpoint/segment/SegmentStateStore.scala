package org.apache.spark.sql.streamjoin.checkpoint.segment

import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  StateStore,
  StateStoreCheckpointInfo,
  StateStoreErrors,
  StateStoreId,
  StateStoreIterator,
  StateStoreMetrics,
  UnsafeRowPair
}
import org.apache.spark.sql.streamjoin.checkpoint.{LongRow, StateShape, StoredNumbers}
import org.apache.spark.sql.streamjoin.spark.ReleasedStore
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.StructType

import io.streamjoin.state.segment.SegmentJoinState

/**
 * One version of a partition's state, used by one task.
 *
 * It supports only a part of Spark's interface: versions, commit, abort, metrics and named numbers.
 * The rows are available through [[open]], which must be called first.
 *
 * @param source the ID of the version's file, if Spark has recorded one; None for an empty state
 */
private[segment] final class SegmentStateStore(
    partition: StoredPartition,
    override val version: Long,
    source: Option[Option[String]]
) extends ReleasedStore {

  private var taken: Option[Resident] = None
  private var committed: Option[Resident] = None
  private var ended = false
  private var numbers = Map.empty[String, Long]
  private val number = new LongRow(1)

  Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => abort()))

  override def id: StateStoreId = partition.storeId

  def open(shape: StateShape): SegmentJoinState[UnsafeRow] = {
    if (ended) throw new IllegalStateException(s"$this has been committed or aborted")
    val rows = source.fold(partition.empty(version, shape))(partition.take(version, _, shape))
    taken = Some(rows)
    numbers = rows.version.numbers
    rows.rows
  }

  /** Drops the rows that are in memory between batches. */
  def letGo(): Unit = partition.letGo()

  override def commit(): Long = {
    val rows = taken.filterNot(_ => ended).getOrElse(
      throw new IllegalStateException(s"$this has no rows to commit")
    )
    val next = partition.commit(rows, numbers)
    ended = true
    committed = Some(next)
    partition.give(next)
    next.version.number
  }

  override def abort(): Unit = if (!ended) {
    ended = true
    taken.foreach(rows => partition.give(rows.aborted()))
  }

  override def hasCommitted: Boolean = committed.nonEmpty

  override def metrics: StateStoreMetrics = {
    val rows = taken.map(_.rows)
    StateStoreMetrics(
      rows.fold(0L)(_.rowCount),
      rows.fold(0L)(_.allocated),
      Map.empty
    )
  }

  override def getStateStoreCheckpointInfo(): StateStoreCheckpointInfo = {
    def idOf(version: Option[Version]) =
      version.filter(_ => partition.reportsIds).flatMap(_.newestFile).map(_.id)
    val (now, base) = (idOf(committed.map(_.version)), idOf(committed.flatMap(_.before)))
    StateStoreCheckpointInfo(id.partitionId, version + 1, now, base)
  }

  // ---- numbers ----

  override def get(key: UnsafeRow, colFamilyName: String): UnsafeRow =
    numbers.get(key.getString(0)).map(number(_)).orNull

  override def put(key: UnsafeRow, value: UnsafeRow, colFamilyName: String): Unit =
    numbers += key.getString(0) -> value.getLong(0)

  override def remove(key: UnsafeRow, colFamilyName: String): Unit = numbers -= key.getString(0)

  override def iterator(colFamilyName: String): StateStoreIterator[UnsafeRowPair] = {
    val (pair, name) = (new UnsafeRowPair, new StoredNumbers.Name)
    new StateStoreIterator(
      numbers.iterator.map { case (key, value) => pair.withRows(name(key), number(value)) },
      () => ()
    )
  }

  def allColumnFamilyNames: Set[String] = Set(StateStore.DEFAULT_COL_FAMILY_NAME)

  override def toString: String = s"SegmentStateStore[$id, version $version]"

  // ---- unsupported; earlier versions of Spark lack the methods without `override` ----

  private def unsupported(operation: String): Nothing =
    throw StateStoreErrors.unsupportedOperationException(operation, "SegmentStateStore")

  override def valuesIterator(key: UnsafeRow, colFamilyName: String): Iterator[UnsafeRow] =
    unsupported("valuesIterator")

  override def prefixScan(
      prefixKey: UnsafeRow,
      colFamilyName: String
  ): StateStoreIterator[UnsafeRowPair] = unsupported("prefixScan")

  def prefixScanWithMultiValues(
      prefixKey: UnsafeRow,
      colFamilyName: String
  ): StateStoreIterator[UnsafeRowPair] = unsupported("prefixScanWithMultiValues")

  def iteratorWithMultiValues(colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    unsupported("iteratorWithMultiValues")

  override def removeColFamilyIfExists(colFamilyName: String): Boolean =
    unsupported("removeColFamilyIfExists")

  override def createColFamilyIfAbsent(
      colFamilyName: String,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useMultipleValuesPerKey: Boolean,
      isInternal: Boolean
  ): Unit = unsupported("createColFamilyIfAbsent")

  def putList(key: UnsafeRow, values: Array[UnsafeRow], colFamilyName: String): Unit =
    unsupported("putList")

  override def merge(key: UnsafeRow, value: UnsafeRow, colFamilyName: String): Unit =
    unsupported("merge")

  def mergeList(key: UnsafeRow, values: Array[UnsafeRow], colFamilyName: String): Unit =
    unsupported("mergeList")
}
