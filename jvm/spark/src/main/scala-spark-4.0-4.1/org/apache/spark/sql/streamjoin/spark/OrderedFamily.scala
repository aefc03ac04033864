package org.apache.spark.sql.streamjoin.spark

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.util.NextIterator

/**
 * A column family of a RocksDB store that is read by key ranges. The bytes in the store are those
 * of later versions of Spark, which scan and delete ranges themselves.
 *
 * This version of Spark scans all keys with a common prefix. A range scan uses the longest common
 * prefix of both ends, and skips the keys before the range:
 *
 * {{{
 *   range of (key hash, time)    read                 skipped
 *   (7, 10:00) to (7, 11:00)     key hash 7           times before 10:00
 * }}}
 */
private[streamjoin] final class OrderedFamily(store: StateStore, family: StateStoreColFamilySchema) {
  import family.{colFamilyName => name, keySchema, valueSchema}

  private val encoder = family.keyStateEncoderSpec.get
  store.createColFamilyIfAbsent(name, keySchema, valueSchema, encoder)

  private val db = store.asInstanceOf[RocksDBStateStoreProvider#RocksDBStateStore].dbInstance()
  private val (keys, values) = {
    val rows = new UnsafeRowDataEncoder(encoder, valueSchema)
    (
      RocksDBStateEncoder.getKeyEncoder(rows, encoder, useColumnFamilies = true),
      RocksDBStateEncoder.getValueEncoder(rows, valueSchema, useMultipleValuesPerKey = false)
    )
  }

  /** The pairs from one key up to, but without, another, in the order of the keys. */
  def scan(from: UnsafeRow, until: UnsafeRow): StateStoreIterator[UnsafeRowPair] = {
    val (first, end) = (keys.encodeKey(from), keys.encodeKey(until))
    val same = Arrays.mismatch(first, end)
    val found = db.prefixScan(if (same < 0) first else first.take(same), name)
    val pair = new UnsafeRowPair
    new StateStoreIterator(
      found
        .dropWhile(kv => Arrays.compareUnsigned(kv.key, first) < 0)
        .takeWhile(kv => Arrays.compareUnsigned(kv.key, end) < 0)
        .map(kv => pair.withRows(keys.decodeKey(kv.key), values.decodeValue(kv.value))),
      () => close(found)
    )
  }

  def deleteRange(from: UnsafeRow, until: UnsafeRow): Unit = {
    val found = scan(from, until)
    try found.foreach(pair => store.remove(pair.key, name))
    finally found.close()
  }

  private def close(found: Iterator[_]): Unit = found match {
    case open: NextIterator[_] => open.closeIfNeeded()
    case _                     =>
  }
}
