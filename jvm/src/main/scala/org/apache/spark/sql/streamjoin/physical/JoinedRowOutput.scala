package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  GenericInternalRow,
  JoinedRow,
  UnsafeProjection,
  UnsafeRow
}

import io.streamjoin.core.{JoinOutput, JoinType, Side}

/** Output rows as Spark wants them: each overwrites the one before. */
private[physical] final class JoinedRowOutput(
    joinType: JoinType,
    left: Seq[Attribute],
    right: Seq[Attribute]
) extends JoinOutput[UnsafeRow, InternalRow] {

  private val pair = new JoinedRow
  private val nullLeft = new GenericInternalRow(left.length)
  private val nullRight = new GenericInternalRow(right.length)

  private val project = UnsafeProjection.create(
    left.map(_.withNullability(true)) ++ right.map(_.withNullability(true)),
    left.map(_.withNullability(true)) ++ right.map(_.withNullability(true))
  )

  override def joined(l: UnsafeRow, r: UnsafeRow): InternalRow = project(pair(l, r))

  override def unmatched(side: Side, row: UnsafeRow): InternalRow =
    if (joinType.leftOnly) row
    else if (side == Side.Left) project(pair(row, nullRight))
    else project(pair(nullLeft, row))

  override def matched(l: UnsafeRow): InternalRow = l
}
