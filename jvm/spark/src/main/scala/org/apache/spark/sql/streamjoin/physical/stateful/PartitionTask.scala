package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric

import io.streamjoin.model.Side

/**
 * One batch of one partition of an operator with two inputs. The constructor opens the state. The
 * inputs arrive, the watermarks advance, and the state is committed.
 */
private[physical] trait PartitionTask {

  /**
   * Takes input rows, and returns the rows that they make the operator emit. It is called while an
   * input has rows, and after its result has been read.
   */
  def arrive(left: Iterator[InternalRow], right: Iterator[InternalRow]): Iterator[InternalRow]

  /** The rows that the operator emits by the watermarks of the batch. */
  def advance(): Iterator[InternalRow]

  /** Makes the state the next version. */
  def commit(): Unit

  /** The output. Whoever finds its end has the state committed: a task that fails before commits nothing. */
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

/** A task that takes all left rows, then all right ones: no row of the batch looks up the latter. */
private[physical] trait RowTask extends PartitionTask {

  /** Takes an input row, and returns the rows that it makes the operator emit. */
  def arrive(side: Side, row: UnsafeRow): Iterator[InternalRow]

  override final def arrive(
      left: Iterator[InternalRow],
      right: Iterator[InternalRow]
  ): Iterator[InternalRow] =
    if (left.hasNext) arrive(Side.Left, left.next().asInstanceOf[UnsafeRow])
    else arrive(Side.Right, right.next().asInstanceOf[UnsafeRow])
}
