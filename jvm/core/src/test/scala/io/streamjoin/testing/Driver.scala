package io.streamjoin.testing

import scala.collection.mutable

import io.streamjoin.model.{JoinType, Side}

/**
 * A [[StreamJoin]] over a heap state, fed one event at a time.
 *
 * @param emitsLate whether late rows come out
 */
class Driver(val join: TestJoin, joinType: JoinType, emitsLate: Boolean = false) {

  private var state = new HeapJoinState[TestRow](identity)
  private var running = start(state)

  private def start(state: HeapJoinState[TestRow]) =
    new StreamJoin[TestRow, Emitted](
      joinType,
      join.bounds,
      join.rows,
      if (emitsLate) join.outputWithLate else join.output,
      state
    )

  def send(event: Given): Seq[Emitted] = {
    val events = event match {
      case row: TestRow      => running.onRow(row.side, row)
      case Wm(column, value) => running.onWatermark(column, value)
    }
    events.map {
      case JoinEvent.Row(row)                 => row
      case JoinEvent.Watermark(column, value) => Wm(column, value)
    }
  }

  /** Goes on with nothing but the buffered rows and the received watermarks. */
  def restart(): Unit = {
    val fresh = new HeapJoinState[TestRow](identity)
    for (side <- Side.both; b <- state.all(side).toSeq.sortBy(_.sequence))
      fresh.append(side, b.key, b.time, b.limits, b.row, b.matched)
    val received = running.received
    state = fresh
    running = start(fresh)
    running.restore(received)
  }

  def buffer(side: Side): Seq[TestRow] = state.all(side).map(_.row).toSeq

  /** The buffered rows of a side that have been joined. */
  def used(side: Side): Seq[TestRow] = state.all(side).filter(_.matched).map(_.row).toSeq

  def received: Array[Long] = running.received

  def counters = running.counters
}

/**
 * The first rule of the Hazelcast document for output watermarks: the least of the last received
 * value and the least time in the buffers. It depends on what happens to be buffered, so it is not
 * the rule of the product; it is here because the document's traces show it.
 */
final class FirstRuleDriver(join: TestJoin, joinType: JoinType) extends Driver(join, joinType) {

  private val emitted = mutable.Map.empty[Int, Long]

  override def send(event: Given): Seq[Emitted] = {
    val rows = super.send(event).filterNot(_.isInstanceOf[Wm])
    event match {
      case _: Wm => rows ++ join.columns.indices.flatMap(advance)
      case _     => rows
    }
  }

  private def advance(column: Int): Option[Wm] = {
    val buffered = Side.both.flatMap(buffer).flatMap(_.times.get(column))
    val value = (received(column) +: buffered).min
    val moved = value > emitted.getOrElse(column, Long.MinValue)
    if (moved) emitted(column) = value
    Option.when(moved)(Wm(column, value))
  }
}
