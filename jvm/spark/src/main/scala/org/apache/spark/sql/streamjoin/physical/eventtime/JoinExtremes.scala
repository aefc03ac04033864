package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.physical.stateful.ShownWatermarks

import io.streamjoin.bounds.Saturated
import io.streamjoin.join.eventtime.{Disorder, JoinCounters}
import io.streamjoin.model.{Side, Watermarks}

/**
 * What of a batch is the greatest rather than a sum: how far rows were behind their watermarks, by
 * column, by how little the closest pairs of a key missed their bounds, and how far rows ever were behind
 * the largest time before them, by column. As a vector of which the greatest over all partitions counts.
 */
private[physical] object JoinExtremes {

  def size(spec: StreamJoinSpec): Int = 2 * spec.bounds.columns.length + 2

  def of(counters: JoinCounters, disorder: Disorder): Array[Long] = {
    def least(distance: Option[Long]) = distance.fold(Watermarks.Unknown)(-_)
    val columns = disorder.furthestBehind
    columns ++ Array(least(counters.closestTooLate), least(counters.closestTooEarly)) ++
      columns.indices.map(disorder.sketches.get(_).fold(0L)(_.greatest))
  }

  /** As shown: in milliseconds, or in the unit of a column of numbers. */
  def metrics(spec: StreamJoinSpec, extremes: Array[Long]): Map[String, Long] = {
    val columns = for {
      (name, i) <- new ShownWatermarks(spec.times.expressions, spec.bounds).names
      if extremes(i) != Watermarks.Unknown
      unit <- TimeUnit.of(spec.times(i).dataType).toSeq
      lateness = s"latestBy.$name" -> unit.shown(math.max(extremes(i), 0L))
      disorder = spec.times.lags.get(i).map { lag =>
        s"disorder.$name" -> unit.shown(math.max(Saturated.add(extremes(i), lag), 0L))
      }
      metric <- disorder.toSeq :+ lateness
    } yield metric
    (columns ++ closestMiss(spec, extremes)).toMap
  }

  /** The lag of each column that has one, in the same units. */
  def lags(spec: StreamJoinSpec): Map[String, Long] =
    (for {
      (name, i) <- new ShownWatermarks(spec.times.expressions, spec.bounds).names
      unit <- TimeUnit.of(spec.times(i).dataType)
      lag <- spec.times.lags.get(i)
    } yield s"lag.$name" -> unit.shown(lag)).toMap

  /** How far a row of a column ever was behind the largest time before it. */
  def furthestEver(spec: StreamJoinSpec, extremes: Array[Long], column: Int): Long =
    extremes(spec.bounds.columns.length + 2 + column)

  /** Positive where the right row's time was too late for the left row's. */
  private def closestMiss(spec: StreamJoinSpec, extremes: Array[Long]): Option[(String, Long)] = {
    val n = spec.bounds.columns.length
    val misses = Seq(extremes(n) -> -1L, extremes(n + 1) -> 1L).collect {
      case (least, sign) if least != Watermarks.Unknown => least * sign
    }
    val unit = TimeUnit.of(spec.times(spec.bounds.probeColumn(Side.Right)).dataType)
    misses.minByOption(math.abs).zip(unit).map { case (miss, u) => "closestMiss" -> u.shown(miss) }
  }
}
