package io.streamjoin.benchmarks.spark

import io.streamjoin.benchmarks.{Preserved, Workload}

/**
 * By which batch a row of the preserved input has no partner any more.
 *
 * @param watermarks of the opposite input, after each batch
 */
private final class Due(preserved: Preserved, watermarks: Array[Long]) extends Serializable {

  def batch(row: Long): Int = {
    val found = java.util.Arrays.binarySearch(watermarks, preserved.until(row) + 1)
    if (found >= 0) firstOf(found) else -found - 1
  }

  private def firstOf(found: Int): Int = {
    var i = found
    while (i > 0 && watermarks(i - 1) == watermarks(i)) i -= 1
    i
  }
}

private object Due {

  def of(workload: Workload): Option[Due] = workload.preserved.map { preserved =>
    val stream = preserved.opposite
    val time = stream.indexOf(stream.time)
    var largest = Long.MinValue
    val watermarks = Array.tabulate(workload.batches) { batch =>
      var row = workload.arrivedBefore(stream, batch)
      val end = workload.arrivedBefore(stream, batch + 1)
      while (row < end) {
        largest = math.max(largest, stream.value(row, time))
        row += 1
      }
      if (largest == Long.MinValue) largest else largest - stream.lag
    }
    new Due(preserved, watermarks)
  }
}
