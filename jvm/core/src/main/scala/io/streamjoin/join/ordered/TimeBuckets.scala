package io.streamjoin.join.ordered

/**
 * Numbers the times up to a limit, in ascending order, with numbers that are few: the closer to the
 * limit, the finer. Rows of all partitions can so be brought into order by ranges although nobody has
 * looked at all of them before: of rows spread evenly over any time that ends at the limit, no number
 * has more than an eighth.
 *
 * The distance from the limit as a floating-point number with three bits behind the first.
 */
final class TimeBuckets(limit: Long) extends Serializable {
  import TimeBuckets._

  /** The number of a time, which is not beyond the limit. */
  def of(time: Long): Int = Count - 1 - ofDistance(limit - time)
}

object TimeBuckets {
  private val Bits = 3

  /** The number of rows without a time: before all others. */
  val Timeless: Int = 0

  /** The highest number, and one. */
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
