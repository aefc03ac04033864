package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  RangeKeyScanStateEncoderSpec,
  StateStoreColFamilySchema
}
import org.apache.spark.sql.streamjoin.checkpoint.{StateFormat, StoredNumbers}
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

  val rowKey: StructType = longs("keyHash", "time", "sequence")
  val rowEncoder: KeyStateEncoderSpec = RangeKeyScanStateEncoderSpec(rowKey, rowKey.indices)

  val limitKey: StructType = longs("number", "limit", "keyHash", "time", "sequence")
  val limitEncoder: KeyStateEncoderSpec = RangeKeyScanStateEncoderSpec(limitKey, limitKey.indices)
  val limitValue: StructType = new StructType().add("empty", BooleanType, nullable = true)

  /** The schemas that Spark writes beside the state and validates. */
  def schemas(row: Side => StructType): Map[String, StateStoreColFamilySchema] = {
    def schema(name: String, key: StructType, value: StructType, encoder: KeyStateEncoderSpec) =
      name -> StateStoreColFamilySchema(name, 0, key, 0, value, Some(encoder))
    val sides = Side.both.flatMap { side =>
      Seq(
        schema(rows(side), rowKey, StateFormat.rowValue(row(side)), rowEncoder),
        schema(limits(side), limitKey, limitValue, limitEncoder)
      )
    }
    ((StoredNumbers.Family -> StoredNumbers.schema) +: sides).toMap
  }
}
