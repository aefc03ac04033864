package io.streamjoin.join.ordered

/**
 * Buckets of the times up to a limit, in ascending order: the closer to the limit, the
 * narrower. With them the rows of all partitions are range-partitioned without a pass over the
 * rows before. If the times of the rows are spread evenly up to the limit, no bucket has more
 * than an eighth of the rows.
 *
 * A bucket is the distance from the limit as a floating-point number with three bits behind the
 * first.
 */
final class TimeBuckets(limit: Long) extends Serializable {
  import TimeBuckets._

  /** The bucket of a time, which is not beyond the limit. */
  def of(time: Long): Int = Count - 1 - ofDistance(limit - time)
}

object TimeBuckets {
  private val Bits = 3

  /** The bucket of rows without a time: before all others. */
  val Timeless: Int = 0

  /** The number of buckets. */
  val Count: Int = ofDistance(-1L) + 2

  /** @param distance unsigned */
  private def ofDistance(distance: Long): Int = {
    val exponent = 63 - java.lang.Long.numberOfLeadingZeros(distance)
    if (exponent < Bits) distance.toInt
    else {
      val shift = exponent - Bits
      ((shift + 1) << Bits) + (distance >>> shift).toInt - (1 << Bits)
    }
  }
}
