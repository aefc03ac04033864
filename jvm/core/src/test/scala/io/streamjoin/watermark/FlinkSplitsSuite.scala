package io.streamjoin.watermark

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Watermarks.Unknown

/**
 * Flink's tests of watermarks for each split, for groups: `WatermarkOutputMultiplexerTest`,
 * `WatermarkToDataOutputTest`, `WatermarksWithIdlenessTest`, and those of
 * `SourceOperatorSplitWatermarkAlignmentTest` that have a counterpart. `tests/peers/README.md`
 * explains the differences.
 *
 * A split of Flink that emits a watermark is a group with a row of that time, and the lag is 0. A
 * split that Flink marks as idle is a group without a row for the idle timeout. Flink's periodic
 * emit is the end of a batch.
 */
class FlinkSplitsSuite extends AnyFunSuite {
  import FlinkSplitsSuite._

  private def splits: Splits = new Splits(Some(Timeout))

  // ---- WatermarkOutputMultiplexerTest ----

  test("singleImmediateWatermark, singleDeferredWatermark") {
    val s = splits
    assert(s.batch(1 -> 0) == 0 && !s.isIdle)
  }

  test("singleImmediateIdleness, singleDeferredIdleness: a listed split without a row is idle") {
    val s = splits.listed(1)
    assert(s.pass(Timeout) == Unknown && s.isIdle)
  }

  test("singleImmediateWatermarkAfterIdleness, singleDeferredWatermarkAfterIdleness") {
    val s = splits.listed(1)
    s.pass(Timeout)
    assert(s.batch(1 -> 0) == 0 && !s.isIdle)
  }

  test("multipleImmediateWatermark, multipleDeferredWatermark: an idle split does not count") {
    val s = splits.listed(3)
    s.pass(Timeout)
    assert(s.batch(1 -> 2, 2 -> 5) == 2 && !s.isIdle)
  }

  test("whenImmediateOutputBecomesIdleWatermarkAdvances") {
    val s = splits
    assert(s.batch(1 -> 2, 2 -> 5) == 2)
    s.pass(Timeout - 1, 2 -> 5)
    assert(s.pass(1) == 5)
  }

  test("whenAllImmediateOutputsBecomeIdleWatermarkAdvances: if the slow one is idle first") {
    val s = splits
    assert(s.batch(1 -> 5, 2 -> 2) == 2 && !s.isIdle)
    s.pass(1, 1 -> 5)
    assert(s.pass(Timeout - 1) == 5 && !s.isIdle)
    assert(s.pass(1) == 5 && s.isIdle)
  }

  test("difference: of splits that become idle together, the watermark stays at the slow one") {
    // Flink: 5, in whenAllImmediateOutputsBecomeIdle... and whenAllDeferredOutputsEmitAndIdle...
    val s = splits
    s.batch(1 -> 5, 2 -> 2)
    assert(s.pass(Timeout) == 2 && s.isIdle)
  }

  test("combinedWatermarkDoesNotRegressWhenIdleOutputRegresses") {
    val s = splits
    s.batch(1 -> 2, 2 -> 5)
    s.pass(Timeout - 1, 2 -> 5)
    assert(s.pass(1) == 5)
    assert(s.batch(1 -> 3) == 5)
  }

  test("noCombinedDeferredUpdateWhenWeHaveZeroOutputs, whenThereAreNoOutputsNothingIsReported") {
    assert(splits.batch() == Unknown)
  }

  test("whenRegisteredOutputReportsNothingNothingIsReported") {
    assert(splits.listed(1).batch() == Unknown)
  }

  test("deferredOutputDoesNotImmediatelyAdvanceWatermark: the watermark advances with the batch") {
    val s = splits
    assert(s.column == Unknown)
    assert(s.batch(1 -> 0, 2 -> 1) == 0)
  }

  test("immediateUpdatesTakeDeferredUpdatesIntoAccount: all rows of a batch count") {
    assert(splits.batch(1 -> 5, 2 -> 2) == 2)
  }

  test("immediateUpdateOnSameOutputAsDeferredUpdateDoesNotRegress") {
    val s = splits
    assert(s.batch(1 -> 5) == 5)
    assert(s.batch(1 -> 2) == 5)
    assert(s.batch() == 5)
  }

  test("difference: lowerImmediateUpdateOnSameOutputDoesNotEmitCombinedUpdate") {
    // Flink: nothing before the next periodic emit. Here a batch ends with the largest time
    assert(splits.batch(1 -> 5, 1 -> 2) == 5)
  }

  test("difference: a split that ends is idle first (testRemoveUnblocksWatermarks)") {
    // Flink removes a split that has been read to its end
    val s = splits
    s.batch(1 -> 156765L, 2 -> 156775L)
    assert(s.batch(2 -> 156775L) == 156765L)
    s.pass(Timeout - 1, 2 -> 156775L)
    assert(s.pass(1) == 156775L)
  }

  test("testRemoveOfLowestDoesNotImmediatelyAdvanceWatermark") {
    val s = splits
    assert(s.batch(1 -> -4343L, 2 -> -4333L) == -4343L)
    assert(s.pass(Timeout - 1) == -4343L)
  }

  test("testRemoveOfHighestDoesNotRetractWatermark") {
    val s = splits
    assert(s.batch(1 -> 2) == 2)
    s.pass(Timeout)
    assert(s.batch(2 -> 1) == 2)
  }

  test("testEmittingIdleAfterAllSplitsRemoved") {
    val s = splits
    s.batch(1 -> 1)
    assert(!s.isIdle)
    assert(s.pass(Timeout) == 1 && s.isIdle)
  }

  test("whenIdleImmediateOutputsBecomeActive..., whenIdleDeferredOutputResumes...: by an old row") {
    val s = splits
    s.batch(1 -> 5, 2 -> 5)
    assert(s.pass(Timeout) == 5 && s.isIdle)
    assert(s.batch(1 -> 3) == 5 && !s.isIdle)
  }

  // ---- WatermarkToDataOutputTest ----

  test("testInitialZeroWatermark") {
    assert(splits.batch(1 -> 0) == 0)
  }

  test("testWatermarksDoNotRegress") {
    val s = splits
    val seen = Seq(12, 17, 10, 18, 17, 18).map(time => s.batch(1 -> time))
    assert(seen == Seq(12, 17, 17, 18, 18, 18))
  }

  test("becomingActiveEmitsStatus, becomingActiveDoesNotRequireAnAdvancingWatermark") {
    val s = splits
    s.batch(1 -> 17)
    s.pass(Timeout)
    assert(s.isIdle)
    assert(s.batch(1 -> 10) == 17 && !s.isIdle)
    s.pass(Timeout)
    assert(s.batch(1 -> 100) == 100 && !s.isIdle)
  }

  // ---- WatermarksWithIdlenessTest. `idle_timeout` of 0 or less is refused by the parser ----

  test("testInitiallyActive") {
    assert(!splits.listed(1).isIdle)
  }

  test("testIdleWithoutEvents, testRepeatedIdleChecks") {
    val s = splits.listed(1)
    s.pass(Timeout)
    assert(s.isIdle)
    s.pass(Timeout - 1)
    assert(s.isIdle)
  }

  test("testActiveAfterIdleness, testIdleActiveIdle") {
    val s = splits.listed(1)
    s.pass(Timeout)
    s.batch(1 -> 0)
    assert(!s.isIdle)
    s.pass(Timeout - 1)
    assert(!s.isIdle)
    s.pass(1)
    assert(s.isIdle)
  }

  // ---- SourceOperatorSplitWatermarkAlignmentTest ----

  test("difference: testSplitWatermarkAlignment: a fast split is read on, and its rows wait") {
    // Flink pauses split 0 at 11, as split 1 is at 3
    val s = splits
    assert(s.batch(0 -> 5) == 5)
    assert(s.batch(0 -> 11, 1 -> 3) == 5)
    assert(s.batch(1 -> 12) == 11)
  }

  test("testMultiSplitWatermarkAlignmentAndIdleness: a slow split that has rows is never idle") {
    val s = splits
    s.batch(0 -> 5)
    for (_ <- 1 to 7) assert(s.pass(Timeout - 1, 0 -> 105, 1 -> 3) == 5)
    assert(s.batch(1 -> 105) == 105)
  }

  test("testSingleSplitWatermarkAlignmentAndIdleness: a split with rows is never idle") {
    val s = splits
    for (_ <- 1 to 4) {
      assert(s.pass(Timeout - 1, 0 -> 1) == 1)
      assert(!s.isIdle)
    }
  }

  test(
    "difference: testBackpressureAndIdleness: the time for which the query stands still counts"
  ) {
    // Flink stops the clock of idleness while the task is back-pressured. Here the clock is that of
    // batches: rows that arrived meanwhile are in the next one, and count before idleness
    val s = splits.listed(0, 1)
    assert(s.batch(0 -> 42) == Unknown)
    assert(s.pass(10 * Timeout, 0 -> 44, 1 -> 43) == 43)
    assert(s.pass(10 * Timeout, 0 -> 45) == 45)
  }

  test("testSplitWatermarkAlignmentWithFinishedSplit: a split that has ended blocks no other") {
    val s = splits
    s.batch(0 -> 5, 1 -> 3)
    s.pass(Timeout - 1, 1 -> 4)
    assert(s.pass(1, 1 -> 7) == 7)
  }
}

object FlinkSplitsSuite {

  private val Timeout = 100L

  /** Groups whose names are the numbers of splits. The clock stands still unless time passes. */
  private final class Splits(timeout: Option[Long]) {
    private var now = 0L
    private var grouped = GroupedWatermark(Unknown, Map.empty)
    private var known = Set.empty[String]

    /** Lists splits from now on, as Kafka's offsets list partitions. */
    def listed(splits: Int*): Splits = {
      known ++= splits.map(_.toString)
      batch()
      this
    }

    /** The watermark of the column after a batch with these rows, each with its split. */
    def batch(rows: (Int, Long)*): Long = {
      val latest = rows.groupMapReduce(_._1.toString)(_._2)(math.max)
      grouped = grouped.next(known.map(_ -> Unknown).toMap ++ latest, 0, timeout, now)
      column
    }

    /** The same after some time. */
    def pass(time: Long, rows: (Int, Long)*): Long = {
      now += time
      batch(rows: _*)
    }

    def column: Long = grouped.column

    /** Whether no split holds the watermark back. */
    def isIdle: Boolean = grouped.slowest(timeout, Some(now)).isEmpty
  }
}
