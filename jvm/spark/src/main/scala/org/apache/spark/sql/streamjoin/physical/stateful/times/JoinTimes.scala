package org.apache.spark.sql.streamjoin.physical.stateful.times

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{JoinAnalysis, ZonedPart}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.Watermarks
import io.streamjoin.watermark.{JoinWatermarks, WatermarkPlan}

/**
 * The event times of a join.
 *
 * @param bases the source columns of the watermarks, in the order in which they are stored
 * @param expressions the expression behind each column of the bounds
 * @param zones the session time zones that the bounds depend on
 * @param zoned the parts of the inputs' keys and times that depend on a time zone
 */
private[streamjoin] final case class JoinTimes(
    bases: Seq[BaseColumn],
    expressions: IndexedSeq[Expression],
    watermarks: JoinWatermarks,
    zones: Set[String],
    zoned: Seq[ZonedPart]
) {

  def bounds: JoinBounds = watermarks.bounds

  def apply(column: Int): Expression = expressions(column)

  /** The unit of a column. Every type that can hold an event time has one. */
  def unit(column: Int): TimeUnit = TimeUnit.of(expressions(column).dataType).get

  /** The lags of the columns whose watermarks depend on their own values alone. */
  def lags: Map[Int, Long] = imposed.map { case (column, base) => column -> base.lag }

  /**
   * The lags with which the disorder of a column is compared. With groups, the disorder of the whole
   * column says nothing about a lag.
   */
  def lagsOfDisorder: Map[Int, Long] =
    imposed.collect { case (column, base) if base.per.isEmpty => column -> base.lag }

  private def imposed: Map[Int, BaseColumn.Imposed] =
    ofSource.map { case (i, column) => column -> bases(i) }.collect {
      case (column, base: BaseColumn.Imposed) => column -> base
    }.toMap

  /** Each source column that is a column of the join, with the index of that column. */
  def ofSource: Seq[(Int, Int)] = watermarks.inputs.zipWithIndex.collect {
    case (WatermarkPlan.Base(i), column) => i -> column
  }

  /** The display names of the source columns that are columns of the join. */
  def shownBases: Map[Int, String] = {
    val shown = names.map(_.swap).toMap
    ofSource.collect { case (i, column) if shown.contains(column) => i -> shown(column) }.toMap
  }

  // ---- in progress reports ----

  /**
   * The known watermarks, each with up to two metrics:
   *
   *  - `watermark.<column>`, in milliseconds, or the number of a number column
   *  - `delay.<column>`, the distance of a timestamp to the time of the batch, in milliseconds. It
   *    is negative for a watermark after the time of the batch
   */
  def shown(received: Array[Long], batchMs: Option[Long]): Map[String, Long] = (for {
    (name, column) <- names if received(column) != Watermarks.Unknown
    watermark = unit(column).shown(received(column))
    delay = batchMs.filter(_ => unit(column) == TimeUnit.Timestamp).map(_ - watermark)
    metric <- delay.map(s"delay.$name" -> _).toSeq :+ (s"watermark.$name" -> watermark)
  } yield metric).toMap

  /**
   * The names of the watermarked columns, each with its index. If two columns have one name, the
   * alias or the side precedes it.
   */
  def names: Seq[(String, Int)] = {
    val columns = bounds.columns.indices.filter(bounds.columns(_).watermarked)
    def plain(i: Int) = expressions(i) match {
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

private[streamjoin] object JoinTimes {

  def of(analysis: JoinAnalysis): JoinTimes = {
    import analysis.{bases, expressions, watermarks, zones, zoned}
    JoinTimes(bases, expressions, watermarks, zones, zoned)
  }
}
