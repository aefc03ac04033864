package org.apache.spark.sql.streamjoin.reporting

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streamjoin.physical.stateful.shown.DisplayNames

import io.streamjoin.model.BySide

/** Warnings about batches that drop late rows, or buffer rows without output. */
class BatchWarningsSuite extends AnyFunSuite {

  private def report(batch: Long, metrics: (String, Long)*): JoinReport =
    JoinReport("orders", new UUID(0, 0), batch, 0, metrics.toMap)

  private val names =
    DisplayNames(BySide("o", "the right input"), Map("ot" -> "o.ot", "dt" -> "d.dt"))

  private def only(warning: Seq[String]): String = {
    assert(warning.length == 1)
    warning.head
  }

  test("warns once of an input with many rows of which at least half are late") {
    val warnings = new BatchWarnings
    assert(warnings.of(report(0, "lateRowsLeft" -> 9L, "inputRowsLeft" -> 9L)).isEmpty)
    assert(warnings.of(report(1, "lateRowsLeft" -> 20L, "inputRowsLeft" -> 60L)).isEmpty)
    val warning = only(warnings.of(report(2, "lateRowsLeft" -> 60L, "inputRowsLeft" -> 60L)))
    assert(
      warning.startsWith("Query orders, join 0, batch 2: 60 of 60 rows of the left input are late.")
    )
    assert(warnings.of(report(3, "lateRowsLeft" -> 60L, "inputRowsLeft" -> 60L)).isEmpty)
    assert(warnings.of(report(4, "lateRowsRight" -> 30L, "inputRowsRight" -> 60L)).length == 1)
  }

  test("late changes of a changelog join are compared with its changes, and are ignored") {
    def late(changes: Long) =
      new BatchWarnings().of(
        report(0, "changesOut" -> 0L, "lateRowsLeft" -> 10L, "inputRowsLeft" -> changes)
      )
    assert(late(changes = 21).isEmpty)
    val warning = only(late(changes = 20))
    assert(warning.contains("10 of 20 rows of the left input are late. The join ignores them."))
    assert(!warning.contains("late='emit'"))
  }

  test("warns once of a watermark that is far ahead of the clock") {
    val warnings = new BatchWarnings
    assert(warnings.of(report(0, "delay.dt" -> -3600000L)).isEmpty)
    val warning = only(warnings.of(report(1, "delay.dt" -> -7200000L, "delay.ot" -> 60000L)))
    assert(warning.contains("the watermark of dt is 2 hours after the clock"))
    assert(warnings.of(report(2, "delay.dt" -> -7200000L)).isEmpty)
  }

  test("warns once of a watermark that stands still while others rise and rows are buffered") {
    val warnings = new BatchWarnings
    def batch(n: Int, waiting: Long = 5L) = warnings.of(
      report(
        n.toLong,
        "watermark.ot" -> n.toLong,
        "watermark.dt" -> 7L,
        "bufferedRowsLeft" -> waiting
      )
    )
    for (n <- 0 until BatchWarnings.Batches) assert(batch(n).isEmpty)
    assert(batch(BatchWarnings.Batches, waiting = 0).isEmpty)
    val warning = only(batch(BatchWarnings.Batches + 1))
    assert(
      warning.contains(
        "the watermark of dt has not moved in 10 batches in which others did, and the join buffers 5"
      )
    )
    assert(batch(BatchWarnings.Batches + 2).isEmpty)
  }

  test("a warning uses the display names of the query if they are known") {
    def warning(metrics: (String, Long)*) =
      only(new BatchWarnings().of(report(0, metrics: _*).copy(names = names)))
    assert(warning(
      "lateRowsLeft" -> 60L,
      "inputRowsLeft" -> 60L
    ).contains("60 of 60 rows of o are"))
    assert(warning(
      "lateRowsRight" -> 60L,
      "inputRowsRight" -> 60L
    ).contains("of the right input are"))
    assert(warning("delay.dt" -> -7200000L).contains("the watermark of d.dt is 2 hours after"))
  }

  test("does not warn if no watermark rises") {
    val warnings = new BatchWarnings
    val still = Seq("watermark.ot" -> 1L, "watermark.dt" -> 7L, "bufferedRowsLeft" -> 5L)
    assert((0 to 50).flatMap(n => warnings.of(report(n.toLong, still: _*))).isEmpty)
  }
}
