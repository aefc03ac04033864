package io.streamjoin.benchmarks.limit

import io.streamjoin.benchmarks.{Checksum, Workload}

/** A workload's query as a loop over arrays: what a join costs where nothing else is done. */
trait Loop {

  /** @param stream place of the input among the workload's */
  def arrive(stream: Int, row: Long): Unit

  def bufferedRows: Long
  def bufferedBytes: Long
}

object Loop {

  /** @param afterBatch receives the buffered rows and bytes */
  def run(workload: Workload, result: Checksum)(afterBatch: (Long, Long) => Unit): Unit = {
    val loop = workload.loop(result)
    val streams = workload.streams.toArray
    for (batch <- 0 until workload.batches) {
      var step = workload.stepsBefore(batch)
      val end = workload.stepsBefore(batch + 1)
      while (step < end) {
        var s = 0
        while (s < streams.length) {
          var row = streams(s).arrivedBefore(step)
          val last = streams(s).arrivedBefore(step + 1)
          while (row < last) {
            loop.arrive(s, row)
            row += 1
          }
          s += 1
        }
        step += 1
      }
      afterBatch(loop.bufferedRows, loop.bufferedBytes)
    }
  }
}
