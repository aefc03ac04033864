package org.apache.spark.sql.streamjoin.reporting

import scala.collection.mutable

import org.apache.spark.sql.streamjoin.conditions.TimeUnit

import io.streamjoin.model.Side

/**
 * Warnings about batches that lose rows, or buffer them forever, without an error. Each cause is
 * reported once per run of a query. `streamjoin.doctor` reports further problems.
 */
private[reporting] final class BatchWarnings {
  import BatchWarnings._

  private val logged = mutable.Set.empty[String]
  private val standing = mutable.Map.empty[String, Standing]

  /** The warnings of a batch that are new in this run. */
  def of(report: JoinReport): Seq[String] =
    (mostlyLate(report) ++ ahead(report) ++ stands(report)).collect {
      case (cause, text) if logged.add(cause) =>
        s"Query ${report.query}, join ${report.join}, batch ${report.batch}: $text"
    }

  private def mostlyLate(report: JoinReport): Seq[(String, String)] = for {
    side <- Side.both
    of = side.name.capitalize
    (late, rows) = (report(s"lateRows$of"), report(s"inputRows$of"))
    if late >= FewRows && late * 2 >= rows
    fate = if (report.isOfChanges) "ignores them" else "drops them, or emits them with late='emit'"
  } yield s"late $of" -> (s"$late of $rows rows of ${report.names.inputs(side)} are late. The " +
    s"join $fate. The watermark follows the largest time seen. Does the query read a " +
    "backlog out of order, or was a row far ahead of the others?")

  private def ahead(report: JoinReport): Seq[(String, String)] = for {
    (column, delay) <- report.byColumn("delay").toSeq
    if delay < -AheadMs
  } yield s"ahead $column" -> (s"the watermark of ${report.names.column(column)} is " +
    s"${TimeUnit.Timestamp.words(-delay / 1000 * 1000000)} after the clock. A row with a time " +
    "in the future has advanced it, and rows with real times are late. max_ahead prevents this. " +
    "A watermark never moves back, so you also need a new checkpoint.")

  private def stands(report: JoinReport): Seq[(String, String)] = {
    val marks = report.byColumn("watermark")
    val before = marks.keys.map(c => c -> standing.get(c)).toMap
    val moved = marks.collect { case (c, mark) if before(c).exists(_.mark != mark) => c }.toSet
    marks.toSeq.flatMap { case (column, mark) =>
      val now = before(column).filter(_.mark == mark) match {
        case Some(s) =>
          s.copy(othersMoved = s.othersMoved + (if ((moved - column).nonEmpty) 1 else 0))
        case None => Standing(mark, 0)
      }
      standing(column) = now
      val waiting = report("bufferedRowsLeft") + report("bufferedRowsRight")
      Option.when(now.othersMoved >= Batches && waiting > 0)(
        s"stands $column" -> (s"the watermark of ${report.names.column(column)} has not moved in " +
          s"$Batches batches in which others did, and the join buffers $waiting rows. " +
          "idle_timeout limits how long a join waits for an idle input.")
      )
    }
  }
}

private[reporting] object BatchWarnings {

  /** Fewer late rows cause no warning. */
  val FewRows: Long = 10

  val AheadMs: Long = 3600000L

  /** The number of batches in which watermarks of other columns must have moved. */
  val Batches: Int = 10

  private final case class Standing(mark: Long, othersMoved: Int)
}
