package org.apache.spark.sql.streamjoin.physical.exchange

import java.util.Arrays

/**
 * Set of distinct numbers, stored as ranges. The IDs of the tasks of one stage are consecutive, so
 * a few ranges suffice for any number of tasks.
 *
 * {{{
 *   3 4 5 9   -->   3 6   9 10
 * }}}
 *
 * @param bounds the first number (inclusive) and the last one (exclusive) of each range, ascending
 */
private[exchange] final class MapIds private (private val bounds: Array[Long])
    extends Serializable {

  def count: Int =
    bounds.indices.by(2).foldLeft(0L)((sum, i) => sum + bounds(i + 1) - bounds(i)).toInt

  override def equals(other: Any): Boolean = other match {
    case o: MapIds => Arrays.equals(bounds, o.bounds)
    case _         => false
  }

  override def hashCode: Int = Arrays.hashCode(bounds)
}

private[exchange] object MapIds {

  def of(numbers: Array[Long]): MapIds = {
    val sorted = numbers.sorted
    val bounds = Array.newBuilder[Long]
    for (i <- sorted.indices) {
      if (i == 0 || sorted(i) > sorted(i - 1) + 1) bounds += sorted(i)
      if (i == sorted.length - 1 || sorted(i + 1) > sorted(i) + 1) bounds += sorted(i) + 1
    }
    new MapIds(bounds.result())
  }
}
