package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.TaskContext
import org.apache.spark.memory.{MemoryConsumer, MemoryMode}

/** How much rows may take that are sorted in memory. */
private[changelog] trait SortMemory {

  /** Whether so many bytes may be held. */
  def holds(bytes: Long): Boolean

  /** All is given back. */
  def free(): Unit
}

private[changelog] object SortMemory {

  /**
   * That of a task, of which Spark knows. It is a small part of all, for it is given back only when the rows have been read,
   * and a task may have several sorts at once.
   */
  def of(task: TaskContext): SortMemory = {
    val memory = new OfTask(task)
    task.addTaskCompletionListener[Unit](_ => memory.free())
    memory
  }

  private val Most = 1L << 26
  private val Step = 1L << 18

  private val most: Long =
    math.min(
      Most,
      Runtime.getRuntime.maxMemory / (64L * Runtime.getRuntime.availableProcessors)
    )

  private final class OfTask(task: TaskContext)
      extends MemoryConsumer(task.taskMemoryManager(), MemoryMode.ON_HEAP)
      with SortMemory {

    override def holds(bytes: Long): Boolean = bytes <= getUsed || bytes <= most && {
      val more = math.max(bytes - getUsed, Step)
      val granted = acquireMemory(more)
      granted == more
    }

    override def free(): Unit = freeMemory(getUsed)

    /** What is held is on its way out. */
    override def spill(size: Long, trigger: MemoryConsumer): Long = 0L
  }
}
