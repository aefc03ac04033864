package org.apache.spark.sql.streamjoin.physical.stateful.shown

import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.Watermarks
import io.streamjoin.watermark.GroupedWatermark

/** Metrics of the groups of an event-time column, in the progress of a query. */
private[stateful] object GroupMetrics {

  /** The number of groups that are reported with their watermarks. */
  private val Slowest = 5

  /**
   * The metrics of a column:
   *
   *  - `groups.<column>`: the groups that hold its watermark back
   *  - `groupSpread.<column>`: how far the slowest of them is behind the fastest
   *  - `groupWatermark.<column>.<group>`: the watermarks of the slowest ones; none for a group
   *    without a row so far
   *  - `groupSilent.<column>.<group>`: how long these had no row, in milliseconds
   */
  def of(
      column: String,
      base: BaseColumn.Imposed,
      watermark: GroupedWatermark,
      batchTimeMs: Option[Long]
  ): Map[String, Long] = {
    val active = watermark.slowest(base.idleTimeoutMs, batchTimeMs)
    val known = active.map(_._2.watermark).filter(_ != Watermarks.Unknown)
    val slowest = active.take(Slowest).flatMap { case (name, g) =>
      Seq(g.watermark).filter(_ != Watermarks.Unknown)
        .map(mark => s"groupWatermark.$column.$name" -> base.unit.shown(mark)) ++
        batchTimeMs.map(now => s"groupSilent.$column.$name" -> (now - g.activeMs))
    }
    val spread = for (last <- known.maxOption; first <- known.minOption)
      yield s"groupSpread.$column" -> base.unit.shown(Saturated.subtract(last, first))
    (slowest ++ spread).toMap + (s"groups.$column" -> active.size.toLong)
  }
}
