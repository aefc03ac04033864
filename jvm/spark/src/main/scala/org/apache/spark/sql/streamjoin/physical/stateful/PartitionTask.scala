package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric

import io.streamjoin.model.Side

/**
 * Task of one partition in one batch, for an operator with two inputs. Its constructor opens the
 * state. Then it reads the inputs, advances the watermarks, and commits the state.
 */
private[physical] trait PartitionTask {

  /**
   * Reads input rows, and returns the rows that the operator emits for them. It is called again
   * after its result has been read, until both inputs are empty.
   */
  def arrive(left: Iterator[InternalRow], right: Iterator[InternalRow]): Iterator[InternalRow]

  /** Advances the watermarks, and returns the rows that the operator emits by them. */
  def advance(): Iterator[InternalRow]

  /** Commits the state as its next version. */
  def commit(): Unit

  /**
   * The output of the task. It commits the state at its end, so a task that fails before commits
   * nothing.
   */
  final def output(
      left: Iterator[InternalRow],
      right: Iterator[InternalRow],
      emitted: SQLMetric
  ): Iterator[InternalRow] = new Iterator[InternalRow] {
    private var current: Iterator[InternalRow] = Iterator.empty
    private var advanced = false
    private var committed = false

    override def hasNext: Boolean = {
      while (!committed && !current.hasNext) proceed()
      !committed
    }

    override def next(): InternalRow = {
      if (!hasNext) throw new NoSuchElementException("no more rows in this batch")
      emitted += 1
      current.next()
    }

    private def proceed(): Unit =
      if (left.hasNext || right.hasNext) current = arrive(left, right)
      else if (!advanced) {
        advanced = true
        current = advance()
      } else {
        committed = true
        commit()
      }
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
    if (left.hasNext) arrive(Side.Left, left.next().asInstanceOf[UnsafeRow])
    else arrive(Side.Right, right.next().asInstanceOf[UnsafeRow])
}
