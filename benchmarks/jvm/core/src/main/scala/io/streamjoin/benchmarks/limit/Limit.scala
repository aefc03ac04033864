package io.streamjoin.benchmarks.limit

import scala.collection.mutable

import io.streamjoin.benchmarks._

/** The engine that is none: one thread, one loop. */
object Limit extends Engine {

  def main(arguments: Array[String]): Unit = Engine.main(arguments.toSeq)(_ => this)

  override def run(workload: Workload): Outcome = {
    val result = new Checksum
    val peaks = mutable.ArrayBuffer.empty[(Long, Long)]
    val watch = new Stopwatch
    Loop.run(workload, result)((rows, bytes) => peaks += ((rows, bytes)))
    Outcome(
      result,
      watch.wallSeconds,
      watch.cpuSeconds,
      peakBufferedRows = Some(peaks.map(_._1).max),
      peakBufferedBytes = Some(peaks.map(_._2).max)
    )
  }
}
