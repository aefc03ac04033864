package org.apache.spark.sql.streamjoin.physical.asof

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.util.collection.unsafe.sort.PrefixComparators

import io.streamjoin.join.asof.AsOfJoin
import io.streamjoin.model.Side

/** The rows of one side that are due in a batch, sorted, on the disk where memory is short. */
private[asof] final class DueRows(
    side: Side,
    columns: Seq[Attribute],
    rows: UnsafeAsOfRows,
    operator: AsOfJoin[UnsafeRow, _]
) {

  private var sorter: UnsafeExternalRowSorter = _

  def add(row: UnsafeRow): Unit = {
    if (sorter == null) sorter = create()
    sorter.insertRow(row)
  }

  /** Nothing can be added any more. */
  def sorted(): Iterator[UnsafeRow] =
    if (sorter == null) Iterator.empty else sorter.sort().asInstanceOf[Iterator[UnsafeRow]]

  private def create(): UnsafeExternalRowSorter = UnsafeExternalRowSorter.create(
    DataTypeUtils.fromAttributes(columns),
    // asked where the prefixes, the hashes of the keys, are equal
    new Ordering[InternalRow] {
      override def compare(a: InternalRow, b: InternalRow): Int =
        operator.compareInKey(side, a.asInstanceOf[UnsafeRow], b.asInstanceOf[UnsafeRow])
    },
    PrefixComparators.LONG,
    new UnsafeExternalRowSorter.PrefixComputer {
      private val prefix = new UnsafeExternalRowSorter.PrefixComputer.Prefix
      override def computePrefix(row: InternalRow)
          : UnsafeExternalRowSorter.PrefixComputer.Prefix = {
        prefix.value = rows.key(side, row.asInstanceOf[UnsafeRow])
        prefix.isNull = false
        prefix
      }
    },
    SparkEnv.get.memoryManager.pageSizeBytes,
    false
  )
}
