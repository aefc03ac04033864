package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.physical.stateful.{Figure, OperatorMetrics}

import io.streamjoin.model.Watermarks

/** What a join tells of a batch, in Spark's user interface and in the query's progress. */
private[physical] object StreamJoinMetrics {

  val figures: OperatorMetrics = new OperatorMetrics(
    Seq(
      Figure("inputRowsLeft", "input rows, left"),
      Figure("inputRowsRight", "input rows, right"),
      Figure("joinedRows", "pairs joined"),
      Figure("lookedIntoRows", "rows without a partner that were looked into"),
      Figure("keyMetRows", "of these, rows whose key the other input has"),
      Figure("lateRowsLeft", "late rows, left"),
      Figure("lateRowsRight", "late rows, right"),
      Figure("aheadRowsLeft", "rows too far ahead, left"),
      Figure("aheadRowsRight", "rows too far ahead, right"),
      Figure("bufferedRowsLeft", "buffered rows, left", isReading = true),
      Figure("bufferedRowsRight", "buffered rows, right", isReading = true),
      Figure("evictedRowsLeft", "evicted rows, left"),
      Figure("evictedRowsRight", "evicted rows, right"),
      Figure("nullTimeRowsLeft", "rows without a time, left"),
      Figure("nullTimeRowsRight", "rows without a time, right"),
      Figure("nullPaddedRows", "rows emitted without a match")
    )
  )

  /** The watermarks received so far, as shown: `watermark.<column>` in milliseconds, or the number. */
  def watermarks(spec: StreamJoinSpec, received: Array[Long]): Map[String, Long] =
    (for {
      (name, column) <- names(spec)
      unit <- TimeUnit.of(spec.times(column).dataType)
      if received(column) != Watermarks.Unknown
    } yield s"watermark.$name" -> unit.shown(received(column))).toMap

  /** The column; with the alias or the side before it where two columns have one name. */
  def names(spec: StreamJoinSpec): Seq[(String, Int)] = {
    val columns = spec.bounds.columns.indices.filter(spec.bounds.columns(_).watermarked)
    def plain(i: Int) = spec.times(i) match {
      case a: Attribute => a.name
      case other        => other.sql
    }
    def qualified(i: Int) = spec.bounds.columns(i).name
    def sided(i: Int) = s"${spec.bounds.columns(i).side.name}.${qualified(i)}"
    columns.map { i =>
      val name =
        if (columns.count(plain(_) == plain(i)) == 1) plain(i)
        else if (columns.count(qualified(_) == qualified(i)) == 1) qualified(i)
        else sided(i)
      name -> i
    }
  }
}
