package org.apache.spark.sql.streamjoin.checkpoint

import scala.util.Using

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  StateStore,
  StateStoreColFamilySchema
}
import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** Named numbers in the same version of the store as the rows they belong to. */
private[streamjoin] final class StoredNumbers(store: StateStore) {
  private val key = new StoredNumbers.Name
  private val value = new LongRow(1)

  def get(name: String): Option[Long] =
    Option(store.get(key(name), StoredNumbers.Family)).map(_.getLong(0))

  def put(name: String, number: Long): Unit =
    store.put(key(name), value(number), StoredNumbers.Family)

  /** Whether a number is set. The next version has it no more. */
  def takeFlag(name: String): Boolean = {
    val isSet = get(name).contains(1L)
    if (isSet) put(name, 0L)
    isSet
  }

  def remove(name: String): Unit = store.remove(key(name), StoredNumbers.Family)

  /** All numbers whose names have a prefix. */
  def startingWith(prefix: String): Map[String, Long] =
    Using.resource(store.iterator(StoredNumbers.Family)) {
      _.map(pair => pair.key.getString(0) -> pair.value.getLong(0))
        .filter(_._1.startsWith(prefix))
        .toMap
    }
}

private[streamjoin] object StoredNumbers {

  val Family: String = StateStore.DEFAULT_COL_FAMILY_NAME

  /** Name of the flag of rows whose limits may be below the watermarks, after a rewrite. */
  val MayHoldExpired: String = "mayHoldExpired"

  val key: StructType = new StructType().add("name", StringType, nullable = false)
  val value: StructType = new StructType().add("value", LongType, nullable = false)
  val encoder: KeyStateEncoderSpec = NoPrefixKeyStateEncoderSpec(key)

  /** A reusable key of a number. */
  private[checkpoint] final class Name {
    private val writer = new UnsafeRowWriter(1)

    /** Fills the row with this name, and returns the same object each time. */
    def apply(name: String): UnsafeRow = {
      writer.reset()
      writer.write(0, UTF8String.fromString(name))
      writer.getRow
    }
  }

  val schema: StateStoreColFamilySchema =
    StateStoreColFamilySchema(Family, 0, key, 0, value, Some(encoder))
}

/** A reusable row of non-null LONG columns, for keys of the state. */
private[streamjoin] final class LongRow(fields: Int) {
  private val row = new UnsafeRow(fields)
  private val bytes = UnsafeRow.calculateBitSetWidthInBytes(fields) + fields * 8
  row.pointTo(new Array[Byte](bytes), bytes)

  /** Fills the row with these values, and returns the same object each time. */
  def apply(values: Long*): UnsafeRow = {
    var i = 0
    while (i < fields) {
      row.setLong(i, values(i))
      i += 1
    }
    row
  }
}
