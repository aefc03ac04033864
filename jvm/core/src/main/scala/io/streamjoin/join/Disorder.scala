package io.streamjoin.join

import io.streamjoin.bounds.{RowTimes, Saturated}
import io.streamjoin.model.Watermarks
import io.streamjoin.watermark.DisorderSketch

/**
 * Disorder of the rows of a join: how far they arrive behind their watermark, and behind the
 * largest time before them.
 *
 * @param lags of the columns whose watermark is the largest time minus a lag, that lag
 */
final class Disorder(columns: Int, lags: Map[Int, Long]) {

  private val furthest = Array.fill(columns)(Watermarks.Unknown)
  private val lagOf = Array.tabulate(columns)(lags.getOrElse(_, 0L))

  /** Null for a column without a lag. */
  private val sketchOf =
    Array.tabulate(columns)(c => if (lags.contains(c)) new DisorderSketch else null)

  /** Takes in the times of a row in some columns. */
  def note(columns: Array[Int], times: RowTimes, watermarks: Array[Long]): Unit = {
    var i = 0
    while (i < columns.length) {
      val c = columns(i)
      if (!times.isNull(c)) note(c, times(c), watermarks(c))
      i += 1
    }
  }

  /** Takes in one time, and the watermark of its column. */
  def note(column: Int, time: Long, watermark: Long): Unit = if (watermark != Watermarks.Unknown) {
    val distance = Saturated.subtract(watermark, time)
    if (distance > furthest(column)) furthest(column) = distance
    val sketch = sketchOf(column)
    // after a restart with another lag the watermark is that of the old one until it moves on
    if (sketch != null) sketch.note(Saturated.add(distance, lagOf(column)))
  }

  /**
   * By column, how far the row furthest behind was below the received watermark, negative above
   * it. `Watermarks.Unknown` while there was no watermark, or no row.
   */
  def furthestBehind: Array[Long] = furthest.clone()

  /** By column with a lag, how far rows were behind the largest time before them. */
  val sketches: Map[Int, DisorderSketch] = lags.keys.map(c => c -> sketchOf(c)).toMap
}
