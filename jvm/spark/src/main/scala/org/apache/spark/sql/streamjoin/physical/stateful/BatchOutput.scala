package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric

import io.streamjoin.model.Side

/**
 * What one batch of one partition emits, worked out as it is asked for. Right rows come after all
 * left ones: nothing of the batch can look for them any more.
 *
 * @param process what a row gives
 * @param advance what the batch's watermarks free
 * @param finish is called once, after the last row
 */
private[physical] final class BatchOutput(
    left: Iterator[InternalRow],
    right: Iterator[InternalRow],
    process: (Side, UnsafeRow) => Iterator[InternalRow],
    advance: () => Iterator[InternalRow],
    finish: () => Unit,
    emitted: SQLMetric
) extends Iterator[InternalRow] {

  private var current: Iterator[InternalRow] = Iterator.empty
  private var advanced = false
  private var finished = false

  override def hasNext: Boolean = {
    while (!finished && !current.hasNext) proceed()
    !finished
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more rows in this batch")
    emitted += 1
    current.next()
  }

  private def proceed(): Unit =
    if (left.hasNext) current = process(Side.Left, left.next().asInstanceOf[UnsafeRow])
    else if (right.hasNext) current = process(Side.Right, right.next().asInstanceOf[UnsafeRow])
    else if (!advanced) {
      advanced = true
      current = advance()
    } else {
      finished = true
      finish()
    }
}
