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
 * Which partition a row goes to, asked of one row after the other in one task.
 *
 * To generate the code for it takes as long as the expression takes for some thousand rows as it is, though the code
 * has been compiled: of the first rows the expression itself is asked.
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

  /** Rows for which no code is worth while. */
  private[exchange] val AsItIs = 1000
}
