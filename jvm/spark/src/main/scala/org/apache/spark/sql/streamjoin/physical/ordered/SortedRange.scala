package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, RowOrdering, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.streamjoin.physical.stateful.RowsByBytes
import org.apache.spark.util.collection.unsafe.sort.PrefixComparators

/**
 * The rows of one range of times, sorted: by the time, by what else is asked for, and what is then
 * still equal by its bytes, so that a batch that is run again comes out alike.
 */
private[ordered] final class SortedRange(spec: OrderSpec, output: Seq[Attribute])
    extends Serializable {

  def sorted(rows: Iterator[InternalRow]): Iterator[InternalRow] =
    if (rows.isEmpty) Iterator.empty
    else {
      val times = new TimedRows(spec, output)
      val sorter = UnsafeExternalRowSorter.create(
        DataTypeUtils.fromAttributes(output),
        new WithBytes(RowOrdering.create(spec.order, output)),
        PrefixComparators.LONG,
        new UnsafeExternalRowSorter.PrefixComputer {
          private val prefix = new UnsafeExternalRowSorter.PrefixComputer.Prefix
          override def computePrefix(
              row: InternalRow
          ): UnsafeExternalRowSorter.PrefixComputer.Prefix = {
            val unsafe = row.asInstanceOf[UnsafeRow]
            // a window counts as its end; where it is the same for two rows, they are compared
            prefix.value = if (times.isTimeless(unsafe)) Long.MinValue else times.time(unsafe)
            prefix.isNull = false
            prefix
          }
        },
        SparkEnv.get.memoryManager.pageSizeBytes,
        false
      )
      sorter.sort(rows.asInstanceOf[Iterator[UnsafeRow]]).asInstanceOf[Iterator[InternalRow]]
    }
}

/** Rows that an order finds equal, by their bytes. */
private[ordered] final class WithBytes(order: Ordering[InternalRow]) extends Ordering[InternalRow] {

  override def compare(a: InternalRow, b: InternalRow): Int = {
    val c = order.compare(a, b)
    if (c != 0) c else RowsByBytes.compare(a.asInstanceOf[UnsafeRow], b.asInstanceOf[UnsafeRow])
  }
}
