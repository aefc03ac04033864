package org.apache.spark.sql.streamjoin.physical.timed

import io.streamjoin.bounds.Saturated
import io.streamjoin.join.{Counters, Disorder}
import io.streamjoin.model.{Side, Watermarks}

/**
 * The statistics of a batch that are maxima, as one vector. The driver takes the maximum over all
 * partitions, element by element.
 *
 * {{{
 *   per column   how far a row was behind the watermark
 *   2 elements   by how little the closest pair of a key missed the bounds: too late, too early
 *   per column   how far a row has ever been behind the largest time before it
 *   per column   see [[StoredCompleteness]]
 * }}}
 *
 * A miss is stored negated, so that its maximum is the closest one.
 */
private[physical] object JoinExtremes {

  def size(spec: TimedJoinSpec): Int = 3 * spec.bounds.columns.length + 2

  /** @param incomplete see [[StoredCompleteness.ahead]] */
  def of(counters: Counters, disorder: Disorder, incomplete: Array[Long]): Array[Long] = {
    def least(distance: Option[Long]) = distance.fold(Watermarks.Unknown)(-_)
    val columns = disorder.furthestBehind
    columns ++ Array(least(counters.closestTooLate), least(counters.closestTooEarly)) ++
      columns.indices.map(disorder.sketches.get(_).fold(0L)(_.greatest)) ++ incomplete
  }

  /** The metrics of a batch, in milliseconds, or in the unit of a numeric column. */
  def metrics(spec: TimedJoinSpec, extremes: Array[Long]): Map[String, Long] = {
    val columns = for {
      (name, i) <- spec.times.names if extremes(i) != Watermarks.Unknown
      unit = spec.times.unit(i)
      lateness = s"latestBy.$name" -> unit.shown(math.max(extremes(i), 0L))
      disorder = spec.times.lagsOfDisorder.get(i).map { lag =>
        s"disorder.$name" -> unit.shown(math.max(Saturated.add(extremes(i), lag), 0L))
      }
      metric <- disorder.toSeq :+ lateness
    } yield metric
    (columns ++ closestMiss(spec, extremes) ++ incomplete(spec, extremes).map {
      case (name, column, watermark) =>
        s"completeFrom.$name" -> spec.times.unit(column).shown(watermark)
    }).toMap
  }

  /** The columns with the watermarks from which the results are complete, by name. */
  def incomplete(spec: TimedJoinSpec, extremes: Array[Long]): Seq[(String, Int, Long)] =
    for {
      (name, column) <- spec.times.names
      watermark = extremes(2 * spec.bounds.columns.length + 2 + column)
      if watermark != Watermarks.Unknown
    } yield (name, column, watermark)

  /** The lag of each column that has one, in the unit of [[metrics]]. */
  def lags(spec: TimedJoinSpec): Map[String, Long] =
    (for {
      (name, i) <- spec.times.names
      lag <- spec.times.lags.get(i)
    } yield s"lag.$name" -> spec.times.unit(i).shown(lag)).toMap

  /** How far a row has ever been behind the largest time of its column before it. */
  def furthestEver(spec: TimedJoinSpec, extremes: Array[Long], column: Int): Long =
    extremes(spec.bounds.columns.length + 2 + column)

  /** The distance is positive if the time of the right row was too late for the left row. */
  private def closestMiss(spec: TimedJoinSpec, extremes: Array[Long]): Option[(String, Long)] = {
    val n = spec.bounds.columns.length
    val misses = Seq(extremes(n) -> -1L, extremes(n + 1) -> 1L).collect {
      case (least, sign) if least != Watermarks.Unknown => least * sign
    }
    val unit = spec.times.unit(spec.bounds.probeColumn(Side.Right))
    misses.minByOption(math.abs).map(miss => "closestMiss" -> unit.shown(miss))
  }
}
