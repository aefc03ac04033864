package io.streamjoin.benchmarks

import scala.collection.mutable

/** A table of sums and counts by a key. A row of it is the key and the average, which is rounded down. */
final class Averages extends Serializable {
  private val all = mutable.LongMap.empty[(Long, Long)]

  def add(key: Long, sum: Long, count: Long): Unit = {
    val (before, rows) = all.getOrElse(key, (0L, 0L))
    all(key) = (before + sum, rows + count)
  }

  def write(result: Checksum): Unit =
    for ((key, (sum, count)) <- all) result.add(key).add(sum / count).end()
}
