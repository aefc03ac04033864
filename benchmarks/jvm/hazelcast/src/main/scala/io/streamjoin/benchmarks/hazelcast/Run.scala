package io.streamjoin.benchmarks.hazelcast

import java.util.UUID
import java.util.concurrent.{ConcurrentHashMap, CopyOnWriteArrayList}
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

import io.streamjoin.benchmarks.{Checksum, Workload}

/** What the processors of a job share; the member is in this process. */
private final class Run(val key: String, val workload: Workload) {
  val pace = new Pace
  val snapshots = new AtomicInteger
  val result = new Checksum

  def add(part: Checksum): Unit = synchronized(result.merge(part))
}

private object Run {
  private val all = new ConcurrentHashMap[String, Run]

  def open(workload: Workload): Run = {
    val run = new Run(UUID.randomUUID.toString, workload)
    all.put(run.key, run)
    run
  }

  def of(key: String): Run = all.get(key)
}

/** Every input is a source of its own to Hazelcast: this keeps one from running ahead of another. */
private final class Pace {
  private val steps = new CopyOnWriteArrayList[AtomicLong]

  /** Where a source is, for it to keep up to date. */
  def join(): AtomicLong = {
    val step = new AtomicLong
    steps.add(step)
    step
  }

  /** The first step that has to wait for others. */
  def limit: Long = steps.stream.mapToLong(_.get).min.getAsLong + Pace.Ahead
}

private object Pace {

  /** What the queue between two of Jet's processors holds. */
  private val Ahead = 1024L
}
