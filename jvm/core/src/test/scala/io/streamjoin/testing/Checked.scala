package io.streamjoin.testing

import scala.collection.mutable

import org.scalatest.Assertions._

import io.streamjoin.join.Count
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.RandomCases.onFailure

/**
 * Compares a join with brute force after each event: output, buffered rows and late rows. Also
 * checks that no output row is below an earlier output watermark.
 */
final class Checked(join: TestJoin, joinType: JoinType) {

  import Checked._

  val driver = new Driver(join, joinType)
  val reference = new Reference(join, joinType)

  private val events = mutable.ArrayBuffer.empty[Given]
  private val emitted = mutable.ArrayBuffer.empty[Emitted]
  private val reached = mutable.Map.empty[Int, Long]

  def send(event: Given): Seq[Emitted] = {
    events += event
    withClue(onFailure(s"${joinType.name}, $join\n${events.mkString("\n")}\n")) {
      val now = driver.send(event)
      reference.see(event)
      now.foreach(keepsPromises)
      emitted ++= rows(now)
      assertSame("too much, too little or not yet", emitted, reference.outputSoFar)
      // each buffered row can still match, and no evicted row could match
      for (side <- Side.both)
        assertSame(s"${side.name} buffer", driver.buffer(side), reference.buffer(side))
      assert(
        Side.both.map(driver.counters.rows(_, Count.Late)).sum == reference.lateRows,
        "late rows"
      )
      now
    }
  }

  /** Checks, after the last watermarks, that all output was emitted. */
  def assertComplete(): Unit =
    withClue(onFailure(s"${joinType.name}, $join\n${events.mkString("\n")}\n")) {
      assertSame("at the end", emitted, reference.finalOutput)
    }

  /** The number of emitted rows. */
  def outputRows: Int = emitted.length

  private def keepsPromises(event: Emitted): Unit = event match {
    case Wm(column, value) =>
      assert(reached.get(column).forall(_ < value), s"wm$column goes back to $value")
      reached(column) = value
    case row =>
      for ((column, time) <- timesOf(row); mark <- reached.get(column))
        assert(time >= mark, s"$row is late by column $column")
  }
}

object Checked {

  def rows(emitted: Seq[Emitted]): Seq[Emitted] = emitted.filterNot(_.isInstanceOf[Wm])

  def watermarks(emitted: Seq[Emitted]): Seq[Wm] = emitted.collect { case w: Wm => w }

  def timesOf(row: Emitted): Map[Int, Long] = row match {
    case Joined(l, r) => l.times ++ r.times
    case Unmatched(r) => r.times
    case Matched(l)   => l.times
    // output watermarks do not cover late rows
    case _: Late | _: FoundLate => Map.empty
    case _: Wm                  => Map.empty
  }

  /** Asserts equal elements with equal counts, in any order. */
  def assertSame(
      what: String,
      actual: collection.Seq[Any],
      expected: collection.Seq[Any]
  ): Unit =
    if (counts(actual) != counts(expected)) {
      fail(
        s"$what: missing ${expected.diff(actual).mkString(", ")}; " +
          s"not expected ${actual.diff(expected).mkString(", ")}"
      )
    }

  private def counts(of: collection.Seq[Any]): collection.Map[Any, Int] =
    of.groupMapReduce(identity)(_ => 1)(_ + _)
}
