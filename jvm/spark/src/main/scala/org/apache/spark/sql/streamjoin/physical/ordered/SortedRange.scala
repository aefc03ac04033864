package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, RowOrdering, UnsafeRow}
import org.apache.spark.sql.streamjoin.physical.exchange.{RowSorter, RowsByBytes}

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
      val sorter = RowSorter.create(
        output,
        // a window counts as its end; where it is the same for two rows, they are compared
        row => if (times.isTimeless(row)) Long.MinValue else times.time(row),
        new WithBytes(RowOrdering.create(spec.order, output))
      )
      sorter.sort(rows.asInstanceOf[Iterator[UnsafeRow]]).asInstanceOf[Iterator[InternalRow]]
    }
}

/** Rows that an order finds equal, by their bytes. */
private[ordered] final class WithBytes(order: Ordering[InternalRow]) extends Ordering[UnsafeRow] {

  override def compare(a: UnsafeRow, b: UnsafeRow): Int = {
    val c = order.compare(a, b)
    if (c != 0) c else RowsByBytes.compare(a, b)
  }
}
