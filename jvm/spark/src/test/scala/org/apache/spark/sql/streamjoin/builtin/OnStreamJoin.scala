package org.apache.spark.sql.streamjoin.builtin

import scala.collection.mutable

import org.scalactic.source.Position
import org.scalatest.Tag
import org.scalatest.exceptions.TestFailedException

import org.apache.spark.SparkConf
import org.apache.spark.sql.streaming.StreamingJoinSuite

/**
 * Runs a suite of Spark with `spark.sql.streamJoin.replaceBuiltin`. Each test must give the rows of
 * Spark's join, on this project's operator, unless it is one of the [[Deviations]].
 *
 * Spark runs each test with several state settings. This project's operator has its own state, so
 * one run is enough.
 */
trait OnStreamJoin extends StreamingJoinSuite {

  // not initialized here: Spark's constructor registers its tests before this one runs
  private var registered: mutable.LinkedHashSet[String] = _
  private var running: String = _

  def sparksTests: Set[String] = registered.toSet

  override protected def testMode: Mode = Mode.WithVCF

  override protected def sparkConf: SparkConf = ReplacingSession.conf(super.sparkConf)

  override protected def test(name: String, tags: Tag*)(body: => Any)(implicit
      pos: Position
  ): Unit = testWithVirtualColumnFamilyJoins(name, tags: _*)(body)

  override def testWithVirtualColumnFamilyJoins(name: String, tags: Tag*)(body: => Any): Unit = {
    if (registered == null) registered = mutable.LinkedHashSet.empty
    registered += name
    super.testWithVirtualColumnFamilyJoins(name, tags: _*) {
      running = name
      PlannedJoins.clear()
      Deviations.of(name) match {
        case Some(d: Deviation.OtherRows) => fails(d, body)
        case Some(_: Deviation.StaysSparks) =>
          body
          assert(PlannedJoins.seen.subsetOf(Set(PlannedJoins.Sparks)))
        case _ =>
          body
          assert(PlannedJoins.seen === Set(PlannedJoins.Ours))
      }
    }
  }

  /** Fails if the test passes: it then has to be removed from the list. */
  private def fails(deviation: Deviation.OtherRows, body: => Any): Unit = {
    val message = intercept[Exception](body) match {
      case e: TestFailedException => e.getMessage()
      case e                      => e.toString
    }
    assert(message.contains(deviation.failsWith))
  }

  override def assertNumStateRows(
      total: Seq[Long],
      updated: Seq[Long],
      droppedByWatermark: Seq[Long],
      removed: Option[Seq[Long]]
  ): AssertOnQuery = {
    val theirs = StateRows(total, updated, droppedByWatermark, removed)
    val ours = Deviations.of(running) match {
      case Some(d: Deviation.OtherCounts) => d.counts.getOrElse(theirs, theirs)
      case _                              => theirs
    }
    Deviations.of(running) match {
      // such a test only checks rows
      case Some(_: Deviation.OtherRows) => AssertOnQuery(_ => true)
      case _ =>
        super.assertNumStateRows(ours.total, ours.updated, ours.dropped, ours.removed)
    }
  }
}
