package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._

/** A column family of a RocksDB store that is read by key ranges. */
private[streamjoin] final class OrderedFamily(
    store: StateStore,
    family: StateStoreColFamilySchema
) {
  import family.{colFamilyName => name, keySchema, valueSchema}

  store.createColFamilyIfAbsent(name, keySchema, valueSchema, family.keyStateEncoderSpec.get)

  /** The pairs from one key up to, but without, another, in the order of the keys. */
  def scan(from: UnsafeRow, until: UnsafeRow): StateStoreIterator[UnsafeRowPair] =
    store.rangeScan(Some(from), Some(until), name)

  def deleteRange(from: UnsafeRow, until: UnsafeRow): Unit = store.deleteRange(from, until, name)
}
