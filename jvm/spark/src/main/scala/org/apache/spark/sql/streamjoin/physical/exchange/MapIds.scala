package org.apache.spark.sql.streamjoin.physical.exchange

import java.util.Arrays

/**
 * Different numbers, as the ranges that they make: few where they follow each other, as those of the tasks of a
 * stage do, however many there are.
 *
 * {{{
 *   3 4 5 9   -->   3 6   9 10
 * }}}
 *
 * @param bounds of each range, in ascending order, the first number and the one behind the last
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
