package org.apache.spark.sql.streamjoin.physical.asof

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.streamjoin.physical.exchange.RowSorter

import io.streamjoin.join.asof.AsOfJoin
import io.streamjoin.model.Side

/** Sorter of the rows of one side that are due in a batch. It spills to disk if memory is short. */
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

  /** The sorted rows. No row can be added afterwards. */
  def sorted(): Iterator[UnsafeRow] =
    if (sorter == null) Iterator.empty else sorter.sort().asInstanceOf[Iterator[UnsafeRow]]

  /** Sorts by the hash of the key, then by time. */
  private def create(): UnsafeExternalRowSorter =
    RowSorter.create(columns, rows.key(side, _), operator.compareInKey(side, _, _))
}
