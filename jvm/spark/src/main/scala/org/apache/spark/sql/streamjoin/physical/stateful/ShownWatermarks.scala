package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.Watermarks

/**
 * Watermarks of a join in progress reports.
 *
 * @param times the expression of each column of `bounds`
 */
private[physical] final class ShownWatermarks(times: IndexedSeq[Expression], bounds: JoinBounds) {

  /**
   * The known watermarks: `watermark.<column>` in milliseconds, or the number of a number column.
   */
  def of(received: Array[Long]): Map[String, Long] =
    (for {
      (name, column) <- names
      unit <- TimeUnit.of(times(column).dataType)
      if received(column) != Watermarks.Unknown
    } yield s"watermark.$name" -> unit.shown(received(column))).toMap

  /**
   * The distance between the time of the batch and each watermark of a timestamp: `delay.<column>`
   * in milliseconds. It is negative for a watermark after the time of the batch.
   */
  def delays(received: Array[Long], batchMs: Long): Map[String, Long] =
    (for {
      (name, column) <- names
      if received(column) != Watermarks.Unknown
      if TimeUnit.of(times(column).dataType).contains(TimeUnit.Timestamp)
    } yield s"delay.$name" -> (batchMs - TimeUnit.Timestamp.shown(received(column)))).toMap

  /**
   * The names of the watermarked columns, each with its index. If two columns have one name, the
   * alias or the side precedes it.
   */
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
