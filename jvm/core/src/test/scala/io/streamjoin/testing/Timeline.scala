package io.streamjoin.testing

import org.scalactic.source.Position
import org.scalatest.Assertions._

import io.streamjoin.join.Count
import io.streamjoin.model.{Side, Watermarks}
import io.streamjoin.testing.TestJoin.Col

/**
 * A trace in the notation of the seeds. `out` must list the output of an event before the next
 * `in`. An event without `out` must emit nothing.
 *
 * {{{
 *   in(l(102, 103))
 *   in(wm(o, 103))
 *   out(wm(o, 102))
 *   leftBuffer(l(102, 103))
 * }}}
 */
final class Timeline(driver: Driver) {

  private var pending: Seq[Emitted] = Nil
  private var last: Given = _

  def in(event: Given)(implicit pos: Position): Unit = {
    nothingLeft()
    last = event
    pending = driver.send(event)
  }

  def out(expected: Emitted*)(implicit pos: Position): Unit = {
    assert(pending == expected, s"came out of $last")
    pending = Nil
  }

  def restart()(implicit pos: Position): Unit = {
    nothingLeft()
    driver.restart()
  }

  def leftBuffer(expected: TestRow*)(implicit pos: Position): Unit = holds(Side.Left, expected)

  def rightBuffer(expected: TestRow*)(implicit pos: Position): Unit = holds(Side.Right, expected)

  def leftUsed(expected: TestRow*)(implicit pos: Position): Unit =
    assert(ordered(driver.used(Side.Left)) == ordered(expected))

  def rightUsed(expected: TestRow*)(implicit pos: Position): Unit =
    assert(ordered(driver.used(Side.Right)) == ordered(expected))

  /** The bound of a column, `wmState` in the seed; None where no watermark bounds it yet. */
  def wmState(expected: (Col, Option[Long])*)(implicit pos: Position): Unit =
    for ((column, value) <- expected) {
      val bound = driver.join.bounds.bound(column.index, driver.received)
      assert(Option.when(bound != Watermarks.Unknown)(bound) == value, s"wmState($column)")
    }

  def lateRows(left: Long, right: Long)(implicit pos: Position): Unit =
    assert(Side.both.map(driver.counters.rows(_, Count.Late)) == Seq(left, right))

  /** Asserts that there is no further output. */
  def nothingLeft()(implicit pos: Position): Unit = assert(pending.isEmpty, s"came out of $last")

  private def holds(side: Side, expected: Seq[TestRow])(implicit pos: Position): Unit =
    assert(ordered(driver.buffer(side)) == ordered(expected), s"in the ${side.name} buffer")

  private def ordered(rows: Seq[TestRow]): Seq[TestRow] = rows.sortBy(_.toString)
}

object Timeline {

  val unknown: Option[Long] = None

  def wm(column: Col, value: Long): Wm = Wm(column, value)
  def joined(left: TestRow, right: TestRow): Emitted = Joined(left, right)
  def unmatched(row: TestRow): Emitted = Unmatched(row)
  def matched(left: TestRow): Emitted = Matched(left)

  /** Runs a trace and asserts that it has listed all output. */
  def trace(driver: Driver)(steps: Timeline => Unit)(implicit pos: Position): Unit = {
    val timeline = new Timeline(driver)
    steps(timeline)
    timeline.nothingLeft()
  }
}
