package org.apache.spark.sql.streamjoin.state

import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.unsafe.types.UTF8String

/** Single numbers in the same version of the store as the rows they belong to. */
private[streamjoin] final class StoredNumbers(store: StateStore) {
  private val toKey = UnsafeProjection.create(StateLayout.numberKey)
  private val value = new LongRow(1)

  private def key(name: String): UnsafeRow = toKey(InternalRow(UTF8String.fromString(name)))

  def get(name: String): Option[Long] =
    Option(store.get(key(name), StateLayout.Numbers)).map(_.getLong(0))

  def put(name: String, number: Long): Unit =
    store.put(key(name), value(number), StateLayout.Numbers)
}
