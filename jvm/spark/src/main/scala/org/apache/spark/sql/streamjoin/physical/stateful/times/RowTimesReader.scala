package org.apache.spark.sql.streamjoin.physical.stateful.times

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.types._

import io.streamjoin.bounds.RowTimes

/**
 * Reads the event times of the rows of one input.
 *
 * @param columns the positions of the times in [[RowTimes]]
 * @param times the expression of each time
 * @param input the columns of a row
 */
private[physical] final class RowTimesReader(
    columns: Array[Int],
    times: Array[Expression],
    input: Seq[Attribute]
) {
  private val readers = times.map(t => TimeReader.of(t.dataType))
  private val ordinals = times.map(t => input.indexWhere(a => t.semanticEquals(a)))

  /** Computes the times, if one of them is not a column of the row. */
  private val computed: Option[UnsafeProjection] =
    Option.when(ordinals.contains(-1))(UnsafeProjection.create(times.toSeq, input))

  def read(row: UnsafeRow, into: RowTimes): Unit = {
    val source = computed.fold(row)(_(row))
    var i = 0
    while (i < columns.length) {
      val ordinal = if (computed.isEmpty) ordinals(i) else i
      if (source.isNullAt(ordinal)) into.setNull(columns(i))
      else into.set(columns(i), readers(i)(source, ordinal))
      i += 1
    }
  }
}

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
