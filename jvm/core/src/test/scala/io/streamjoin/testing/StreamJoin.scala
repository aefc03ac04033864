package io.streamjoin.testing

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.join.{Counters, JoinOutput}
import io.streamjoin.join.eventtime.{EventTimeJoin, JoinRows, JoinStats}
import io.streamjoin.model.{JoinType, Side, Watermarks}
import io.streamjoin.state.JoinState

/** The output of a join that runs event by event. */
sealed trait JoinEvent[+O]

object JoinEvent {
  final case class Row[O](row: O) extends JoinEvent[O]

  /** The watermark of a time column has risen to `value`. */
  final case class Watermark(column: Int, value: Long) extends JoinEvent[Nothing]
}

/**
 * The join without an engine: it takes one row or column watermark at a time, and emits rows and
 * column watermarks. Rows evicted by a watermark are emitted before the output watermarks it
 * causes.
 *
 * Source: the processor of Hazelcast, "Stream to stream JOIN".
 *
 * @tparam R a row of either input
 * @tparam O a row of the output
 */
final class StreamJoin[R, O](
    joinType: JoinType,
    bounds: JoinBounds,
    rows: JoinRows[R],
    output: JoinOutput[R, O],
    state: JoinState[R]
) {

  val counters = new Counters

  private val operator =
    new EventTimeJoin(joinType, bounds, rows, output, state, JoinStats(counters))
  private val emitted = Array.fill(bounds.columns.length)(Watermarks.Unknown)

  /** A row arrives on one side. */
  def onRow(side: Side, row: R): Seq[JoinEvent[O]] =
    operator.process(side, row).map(JoinEvent.Row(_)).toSeq

  /** The watermark of one column arrives: no row with a smaller value arrives later. */
  def onWatermark(column: Int, value: Long): Seq[JoinEvent[O]] = {
    val received = operator.received
    received(column) = value
    val freed = operator.advance(received).map(JoinEvent.Row(_)).toSeq
    freed ++ bounds.columns.indices.flatMap(emit(_, operator.received))
  }

  /** The watermarks received so far. A restart needs these and the buffered rows. */
  def received: Array[Long] = operator.received

  /** Continues with the watermarks that an earlier instance received. */
  def restore(received: Array[Long]): Unit = {
    operator.restore(received)
    bounds.columns.indices.foreach(c => emitted(c) = bounds.outputWatermark(c, received))
  }

  private def emit(column: Int, received: Array[Long]): Option[JoinEvent[O]] = {
    val value = bounds.outputWatermark(column, received)
    val moved = value > emitted(column)
    if (moved) emitted(column) = value
    Option.when(moved)(JoinEvent.Watermark(column, value))
  }
}
