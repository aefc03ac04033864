package io.streamjoin.benchmarks.spark

import java.lang.management.ManagementFactory

/**
 * CPU time of Java's threads by what they do. Threads that compile or collect garbage are not
 * included; their time is the rest of the process's.
 */
private final class ThreadTimes {
  import ThreadTimes._

  private val before = now()

  /** Milliseconds since this was made, of threads that have not ended yet. */
  def soFar(): Map[String, Double] =
    now().toSeq
      .map { case (id, (name, nanos)) => group(name) -> (nanos - before.get(id).fold(0L)(_._2)) }
      .groupMapReduce(_._1)(_._2 / 1e6)(_ + _)
}

private object ThreadTimes {
  private val threads = ManagementFactory.getThreadMXBean

  /** By the thread's id, its name and nanoseconds. */
  private def now(): Map[Long, (String, Long)] =
    threads.getAllThreadIds.toSeq
      .flatMap(id => Option(threads.getThreadInfo(id)))
      .map(thread =>
        thread.getThreadId -> (thread.getThreadName -> threads.getThreadCpuTime(thread.getThreadId))
      )
      .toMap

  private val names = Seq(
    "stream execution thread" -> "the query's thread",
    "dag-scheduler" -> "scheduler of stages",
    "dispatcher" -> "scheduler of tasks",
    "Executor task" -> "tasks",
    "task-result-getter" -> "results of tasks",
    "spark-listener-group" -> "listeners"
  )

  private def group(thread: String): String =
    names.collectFirst { case (begin, what) if thread.startsWith(begin) => what }
      .getOrElse("other threads")
}
