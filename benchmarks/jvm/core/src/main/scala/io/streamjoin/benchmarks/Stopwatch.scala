package io.streamjoin.benchmarks

import java.lang.management.ManagementFactory

import com.sun.management.OperatingSystemMXBean

/** Wall time and the CPU time of the whole process, compilation and garbage collection included. */
final class Stopwatch {
  private val system =
    ManagementFactory.getPlatformMXBean(classOf[OperatingSystemMXBean])
  private val (wall, cpu) = (System.nanoTime, system.getProcessCpuTime)

  def wallSeconds: Double = (System.nanoTime - wall) / 1e9
  def cpuSeconds: Double = (system.getProcessCpuTime - cpu) / 1e9
}
