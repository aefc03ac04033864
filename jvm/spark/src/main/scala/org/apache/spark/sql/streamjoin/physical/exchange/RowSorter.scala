package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.util.collection.unsafe.sort.{PrefixComparators, RecordComparator}

/** Spark's external row sorter, by a number and a further order. It spills to disk. */
private[physical] object RowSorter {

  /**
   * @param number the first sort key
   * @param order decides between equal numbers
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
   * Passes whole rows to an order. Spark's own comparator declares each row 0 bytes long, so that
   * all rows would be equal by their bytes.
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
