package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BindReferences,
  Expression,
  UnsafeProjection
}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning

/**
 * Computes the partition of a row, for the rows of one task.
 *
 * To generate code takes as long as to interpret the expression for some thousand rows, even if the
 * code is compiled already. So the first rows are interpreted.
 */
private[exchange] final class PartitionOfRow(
    partitioning: HashPartitioning,
    columns: Seq[Attribute]
) {
  import PartitionOfRow._

  private val expression: Expression =
    BindReferences.bindReference(partitioning.partitionIdExpression, columns)
  private lazy val generated = UnsafeProjection.create(Seq(expression))
  private var asked = 0

  def apply(row: InternalRow): Int =
    if (asked < AsItIs) {
      asked += 1
      expression.eval(row).asInstanceOf[Int]
    } else generated(row).getInt(0)
}

private[exchange] object PartitionOfRow {

  /** The number of rows for which code generation does not pay. */
  private[exchange] val AsItIs = 1000
}
