package org.apache.spark.sql.streamjoin.physical.eventtime

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

import io.streamjoin.model.TopicPartitioner

/**
 * The partition of a topic in which a row lies by its key, if that is written by the serializer of Kafka's own for
 * its type: text in UTF-8, bytes as they are, whole numbers of 2, 4 and 8 bytes, the highest first.
 *
 * @param column of the key, which is not NULL
 */
private[eventtime] final class PartitionOfKey(dataType: DataType, column: Int) {

  private val bytes: InternalRow => Array[Byte] = dataType match {
    case _: StringType => _.getUTF8String(column).getBytes
    case BinaryType    => _.getBinary(column)
    case ShortType =>
      row => ByteBuffer.allocate(java.lang.Short.BYTES).putShort(row.getShort(column)).array
    case IntegerType =>
      row => ByteBuffer.allocate(Integer.BYTES).putInt(row.getInt(column)).array
    case LongType =>
      row => ByteBuffer.allocate(java.lang.Long.BYTES).putLong(row.getLong(column)).array
    case other => throw new IllegalStateException(s"no key of a record: $other")
  }

  def apply(row: InternalRow, partitions: Int): Int =
    TopicPartitioner.partitionOf(bytes(row), partitions)

  def length(row: InternalRow): Int = bytes(row).length

  /** For people. */
  def shown(row: InternalRow): String = dataType match {
    case BinaryType => row.getBinary(column).take(32).map(b => f"$b%02X").mkString("X'", "", "'")
    case other      => String.valueOf(row.get(column, other)).take(64)
  }
}
