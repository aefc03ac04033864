package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, RowOrdering, UnsafeRow}
import org.apache.spark.sql.streamjoin.physical.exchange.{RowSorter, RowsByBytes}

/**
 * Sorts the rows of a range of times: by the time, then by the tie-breakers, then by their bytes.
 * The last step makes a batch deterministic that runs again.
 */
private[ordered] final class SortedRange(spec: OrderSpec, output: Seq[Attribute])
    extends Serializable {

  def sorted(rows: Iterator[InternalRow]): Iterator[InternalRow] =
    if (rows.isEmpty) Iterator.empty
    else {
      val times = new TimedRows(spec, output)
      val sorter = RowSorter.create(
        output,
        // the number of a window is its end; the order compares windows with the same end
        row => if (times.isTimeless(row)) Long.MinValue else times.time(row),
        RowOrdering.create(spec.order, output).on[UnsafeRow](row => row).orElse(RowsByBytes)
      )
      sorter.sort(rows.asInstanceOf[Iterator[UnsafeRow]]).asInstanceOf[Iterator[InternalRow]]
    }
}
