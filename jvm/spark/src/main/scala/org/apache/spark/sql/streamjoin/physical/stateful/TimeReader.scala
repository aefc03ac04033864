package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.types._

/** Reads a time of any supported type as a number in the unit of its [[TimeUnit]]. */
private[physical] trait TimeReader extends Serializable {
  def apply(row: InternalRow, ordinal: Int): Long
}

private[physical] object TimeReader {
  def of(dataType: DataType): TimeReader = dataType match {
    case TimestampType | TimestampNTZType | LongType => (row, i) => row.getLong(i)
    case DateType | IntegerType                      => (row, i) => row.getInt(i)
    case ShortType                                   => (row, i) => row.getShort(i)
    case ByteType                                    => (row, i) => row.getByte(i)
    case window if TimeUnit.isWindow(window)         => (row, i) => row.getStruct(i, 2).getLong(1)
    case other => throw new IllegalArgumentException(s"${other.sql} cannot hold an event time")
  }
}
