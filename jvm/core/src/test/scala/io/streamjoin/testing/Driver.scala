package io.streamjoin.testing

import scala.collection.mutable

import io.streamjoin.model.{JoinType, Side}

/**
 * A [[StreamJoin]] over a heap state, fed one event at a time.
 *
 * @param emitsLate whether late rows are emitted
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

  /** Restarts with the buffered rows and the received watermarks only. */
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
 * Uses the first rule of the Hazelcast document for output watermarks: the lower of the received
 * watermark and the least buffered time. It depends on the buffered rows, so the product uses
 * another rule. The traces of the document use this one.
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
