package org.apache.spark.sql.streamjoin.physical.timed

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  GenericInternalRow,
  JoinedRow,
  UnsafeProjection,
  UnsafeRow
}

import io.streamjoin.join.JoinOutput
import io.streamjoin.model.{BySide, Side}

/**
 * Builds the output rows of a join with the required columns. Each row reuses the memory of the one
 * before. Serves one task.
 *
 * @param inputs the columns of both inputs
 * @param answers whether the task emits late rows of a side
 */
private[physical] final class JoinedRowOutput(
    spec: TimedJoinSpec,
    inputs: BySide[Seq[Attribute]],
    answers: Side => Boolean
) extends JoinOutput[UnsafeRow, InternalRow] {

  import inputs.{left, right}

  private val leftOnly = spec.joinType.leftOnly
  private val lateRows = spec.output.late.map(new LateRowOutput(_, spec, inputs))

  /** Generated on first use, since many a batch emits no row. */
  private lazy val project = {
    val own = if (leftOnly) left else left ++ right
    UnsafeProjection.create(
      spec.output.required.map(_.withNullability(true)),
      (own ++ spec.output.late.map(_.rows.column)).map(_.withNullability(true))
    )
  }

  private val wholeLeft =
    spec.output.late.isEmpty && spec.output.required.map(_.exprId) == left.map(_.exprId)

  private val pair = new JoinedRow
  private val whole = new JoinedRow
  private val nullLeft = new GenericInternalRow(left.length)
  private val nullRight = new GenericInternalRow(right.length)
  private val notLate = new GenericInternalRow(1)

  override def joined(l: UnsafeRow, r: UnsafeRow): InternalRow = inTime(pair(l, r))

  override def unmatched(side: Side, row: UnsafeRow): InternalRow =
    if (leftOnly) matched(row)
    else if (side == Side.Left) inTime(pair(row, nullRight))
    else inTime(pair(nullLeft, row))

  override def matched(l: UnsafeRow): InternalRow = if (wholeLeft) l else inTime(l)

  override def late(side: Side, row: UnsafeRow, column: Int, watermark: Long): Option[InternalRow] =
    shown(side).map(_.late(side, row, column, watermark))

  override def foundLate(side: Side, row: UnsafeRow): Option[InternalRow] =
    shown(side).map(_.foundLate(side, row))

  private def shown(side: Side): Option[LateRowOutput] =
    lateRows.filter(_ => answers(side) && !(leftOnly && side == Side.Right))

  private def inTime(row: InternalRow): InternalRow =
    project(if (lateRows.isEmpty) row else whole(row, notLate))
}
