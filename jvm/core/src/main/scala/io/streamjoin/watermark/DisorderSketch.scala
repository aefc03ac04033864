package io.streamjoin.watermark

/**
 * Histogram of disorder: how many rows were how far behind the largest time before them. It has
 * a fixed size: two buckets for each power of two, and the exact greatest distance.
 *
 * {{{
 *   distance   <= 0   1   2   3   4-5   6-7   8-11   12-15   16-23 ...
 *   bucket        0   1   3   4     5     6      7       8       9
 * }}}
 *
 * Sketches of parts of a stream add up to that of the whole. Source: histograms of exponential
 * buckets, as in OpenTelemetry's data model for metrics.
 */
final class DisorderSketch {
  import DisorderSketch._

  private val counts = new Array[Long](Buckets)
  private var greatestNoted = 0L

  /** Counts a row. */
  def note(distance: Long): Unit = {
    counts(bucket(distance)) += 1
    if (distance > greatestNoted) greatestNoted = distance
  }

  /** Adds one bucket of another sketch. */
  def add(bucket: Int, rows: Long): Unit = counts(bucket) += rows

  /** Adds the greatest distance of another sketch. */
  def raise(greatest: Long): Unit = greatestNoted = math.max(greatestNoted, greatest)

  /** Rows by bucket, of the buckets that have any. */
  def filled: Map[Int, Long] = counts.indices.collect {
    case b if counts(b) > 0 => b -> counts(b)
  }.toMap

  def rows: Long = counts.sum

  /** The lag with which no row would have been late; 0 if none was behind. */
  def greatest: Long = greatestNoted

  /**
   * A lag with which at least a share of the rows would not have been late. It is less than 1.5
   * times the least such lag.
   */
  def covering(share: Double): Long = {
    val enough = math.ceil(share * rows).toLong
    val kept = counts.scanLeft(0L)(_ + _).tail
    math.min(longest(kept.indexWhere(_ >= enough)), greatestNoted)
  }
}

object DisorderSketch {

  /** Numbers from 0 below it are buckets. */
  val Buckets: Int = 127

  private def bucket(distance: Long): Int =
    if (distance <= 0) 0
    else {
      val power = 63 - java.lang.Long.numberOfLeadingZeros(distance)
      val upperHalf = if (power == 0) 0 else (distance >>> (power - 1)).toInt & 1
      1 + 2 * power + upperHalf
    }

  private def longest(bucket: Int): Long =
    if (bucket == 0) 0L
    else {
      val (power, upperHalf) = ((bucket - 1) / 2, (bucket - 1) % 2)
      if (power == 0) 1L else (1L << power) - 1 + (1L + upperHalf) * (1L << (power - 1))
    }
}
