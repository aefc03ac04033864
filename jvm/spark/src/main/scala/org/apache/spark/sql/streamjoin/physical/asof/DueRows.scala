package org.apache.spark.sql.streamjoin.physical.asof

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.streamjoin.physical.exchange.RowSorter

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

  /** By the hashes of the keys; where they are equal, the keys are asked. */
  private def create(): UnsafeExternalRowSorter =
    RowSorter.create(columns, rows.key(side, _), operator.compareInKey(side, _, _))
}
