package org.apache.spark.sql.streamjoin.physical.stateful.operator

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.util.CompletionIterator

import io.streamjoin.model.Side

/**
 * Task of one partition in one batch. Its constructor opens the state. Then it reads the inputs,
 * advances the watermarks, and commits the state. If the operator has one input, it is the left
 * one.
 */
private[physical] trait PartitionTask {

  /** Reads all input rows lazily, and returns the rows that the operator emits for them. */
  def arrive(left: Iterator[InternalRow], right: Iterator[InternalRow]): Iterator[InternalRow]

  /** Advances the watermarks, and returns the rows that the operator emits by them. */
  def advance(): Iterator[InternalRow]

  /** Commits the state as its next version. */
  def commit(): Unit

  /**
   * The output of the task. After its last row, the task commits the state.
   *
   * @param arrived the rows that the operator emits for the input rows
   */
  final def output(arrived: Iterator[InternalRow], emitted: SQLMetric): Iterator[InternalRow] = {
    val rows = (arrived ++ advance()).map { row =>
      emitted += 1
      row
    }
    CompletionIterator[InternalRow, Iterator[InternalRow]](rows, commit())
  }
}

/**
 * Task that reads all left rows before all right rows. So no row of the batch probes the right rows
 * of the batch.
 */
private[physical] trait RowTask extends PartitionTask {

  /** Reads an input row, and returns the rows that the operator emits for it. */
  def arrive(side: Side, row: UnsafeRow): Iterator[InternalRow]

  override final def arrive(
      left: Iterator[InternalRow],
      right: Iterator[InternalRow]
  ): Iterator[InternalRow] =
    left.flatMap(row => arrive(Side.Left, row.asInstanceOf[UnsafeRow])) ++
      right.flatMap(row => arrive(Side.Right, row.asInstanceOf[UnsafeRow]))
}
