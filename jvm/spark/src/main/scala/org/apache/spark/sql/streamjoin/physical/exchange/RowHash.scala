package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.KeyHash

/** Hash of the key columns of a row, see [[KeyHash]]. */
private[physical] final class RowHash(keys: Seq[Expression], columns: Seq[Attribute]) {

  private val project =
    UnsafeProjection.create(Seq(KeyHash.of(keys)), columns.map(_.withNullability(true)))

  def apply(row: UnsafeRow): Long = project(row).getLong(0)
}
