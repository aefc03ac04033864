package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import org.apache.spark.sql.execution.streaming.state.{
  RangeKeyScanStateEncoderSpec,
  StateStoreColFamilySchema
}
import org.apache.spark.sql.streamjoin.checkpoint.StateFormat
import org.apache.spark.sql.types._

import io.streamjoin.model.Side

/**
 * Layout of one partition's state in one state store.
 *
 * {{{
 *   column family   key                                          value
 *   default         name                                         number   watermarks, sizes, format
 *   rows-SIDE       key hash, time, sequence      (in order)      matched, row
 *   limits-SIDE     number of the limit, limit,   (in order)      nothing
 *                   key hash, time, sequence
 * }}}
 *
 * `rows` has the order of probes: one key, a range of times. `limits` has the order of eviction:
 * the evicted rows are a prefix. The equality key is not stored separately. The join evaluates its
 * condition for rows with equal hashes.
 */
private[rocksdb] object RocksDBLayout {

  val Format: String = "rocksdb"

  def rows(side: Side): String = StateFormat.rowsFamily(side)

  def limits(side: Side): String = s"limits-${side.name}"

  /**
   * Names of the layout's own numbers: format version, next sequence number, row count and last
   * eviction of each side.
   */
  val FormatName: String = "format"

  val SequenceName: String = "sequence"

  def sizeName(side: Side): String = s"rows.${side.name}"

  /** What the name of each number of the last eviction begins with. */
  def evictedPrefix(side: Side): String = s"evicted.${side.name}."

  def evictedName(side: Side, limit: Int): String = s"${evictedPrefix(side)}$limit"

  /** Whether a number belongs to the layout, and not to the operator. */
  def isOwn(name: String): Boolean =
    name == FormatName || name == SequenceName ||
      Side.both.exists(s => name == sizeName(s) || name.startsWith(evictedPrefix(s)))

  private def longs(names: String*): StructType =
    StructType(names.map(StructField(_, LongType, nullable = false)))

  private val rowKey = longs("keyHash", "time", "sequence")
  private val limitKey = longs("number", "limit", "keyHash", "time", "sequence")
  val limitValue: StructType = new StructType().add("empty", BooleanType, nullable = true)

  def rowFamily(side: Side, row: StructType): StateStoreColFamilySchema =
    inOrder(rows(side), rowKey, StateFormat.rowValue(row))

  def limitFamily(side: Side): StateStoreColFamilySchema =
    inOrder(limits(side), limitKey, limitValue)

  def families(side: Side, row: StructType): Seq[StateStoreColFamilySchema] =
    Seq(rowFamily(side, row), limitFamily(side))

  private def inOrder(name: String, key: StructType, value: StructType) = {
    val encoder = RangeKeyScanStateEncoderSpec(key, key.indices)
    StateStoreColFamilySchema(name, 0, key, 0, value, Some(encoder))
  }
}
