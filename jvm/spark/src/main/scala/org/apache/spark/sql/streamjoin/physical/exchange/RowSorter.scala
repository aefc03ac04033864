package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.util.collection.unsafe.sort.{PrefixComparators, RecordComparator}

/** Spark's sorter of rows, which goes to the disk where memory is short, by a number and what else is asked. */
private[physical] object RowSorter {

  /**
   * @param number what rows are sorted by first
   * @param order asked where the numbers are equal
   */
  def create(
      columns: Seq[Attribute],
      number: UnsafeRow => Long,
      order: Ordering[UnsafeRow]
  ): UnsafeExternalRowSorter = {
    val fields = columns.length
    UnsafeExternalRowSorter.createWithRecordComparator(
      DataTypeUtils.fromAttributes(columns),
      () => new WholeRows(fields, order),
      PrefixComparators.LONG,
      new UnsafeExternalRowSorter.PrefixComputer {
        private val prefix = new UnsafeExternalRowSorter.PrefixComputer.Prefix
        override def computePrefix(
            row: InternalRow
        ): UnsafeExternalRowSorter.PrefixComputer.Prefix = {
          prefix.value = number(row.asInstanceOf[UnsafeRow])
          prefix.isNull = false
          prefix
        }
      },
      SparkEnv.get.memoryManager.pageSizeBytes,
      false
    )
  }

  /**
   * Shows an order whole rows. To an order that is handed to the sorter itself every row is 0 bytes long, so that all are
   * equal by their bytes.
   */
  private final class WholeRows(fields: Int, order: Ordering[UnsafeRow]) extends RecordComparator {
    private val one = new UnsafeRow(fields)
    private val other = new UnsafeRow(fields)

    override def compare(
        oneObject: Any,
        oneOffset: Long,
        oneLength: Int,
        otherObject: Any,
        otherOffset: Long,
        otherLength: Int
    ): Int = {
      one.pointTo(oneObject, oneOffset, oneLength)
      other.pointTo(otherObject, otherOffset, otherLength)
      order.compare(one, other)
    }
  }
}
