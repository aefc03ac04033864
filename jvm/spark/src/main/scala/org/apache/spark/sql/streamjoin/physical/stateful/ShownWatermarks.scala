package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.Watermarks

/**
 * The watermarks of a join in progress reports.
 *
 * @param times the expression behind each column of `bounds`
 */
private[physical] final class ShownWatermarks(times: IndexedSeq[Expression], bounds: JoinBounds) {

  /** Those received so far: `watermark.<column>` in milliseconds, or the number. */
  def of(received: Array[Long]): Map[String, Long] =
    (for {
      (name, column) <- names
      unit <- TimeUnit.of(times(column).dataType)
      if received(column) != Watermarks.Unknown
    } yield s"watermark.$name" -> unit.shown(received(column))).toMap

  /**
   * How far those of points in time are behind the clock of a batch: `delay.<column>` in milliseconds,
   * negative where they are after it.
   */
  def delays(received: Array[Long], batchMs: Long): Map[String, Long] =
    (for {
      (name, column) <- names
      if received(column) != Watermarks.Unknown
      if TimeUnit.of(times(column).dataType).contains(TimeUnit.Timestamp)
    } yield s"delay.$name" -> (batchMs - TimeUnit.Timestamp.shown(received(column)))).toMap

  /** The column; with the alias or the side before it where two columns have one name. */
  def names: Seq[(String, Int)] = {
    val columns = bounds.columns.indices.filter(bounds.columns(_).watermarked)
    def plain(i: Int) = times(i) match {
      case a: Attribute => a.name
      case other        => other.sql
    }
    def qualified(i: Int) = bounds.columns(i).name
    def sided(i: Int) = s"${bounds.columns(i).side.name}.${qualified(i)}"
    columns.map { i =>
      val name =
        if (columns.count(plain(_) == plain(i)) == 1) plain(i)
        else if (columns.count(qualified(_) == qualified(i)) == 1) qualified(i)
        else sided(i)
      name -> i
    }
  }
}
