package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.TaskContext
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}

/** How much rows may take that are sorted in memory. */
private[exchange] trait SortMemory {

  /** Whether so many bytes may be held. */
  def holds(bytes: Long): Boolean

  /** All is given back. */
  def free(): Unit
}

private[exchange] object SortMemory {

  /**
   * That of a task, of which Spark knows. It is a part of what the task may have, for it is given back only when the rows
   * have been read; all sorts of the task share it.
   */
  def of(task: TaskContext): SortMemory = {
    val memory = new OfTask(task.taskMemoryManager())
    task.addTaskCompletionListener[Unit](_ => memory.free())
    memory
  }

  private val Step = 1L << 18

  /** A fourth or so of what Spark lets a task have where all cores are busy. */
  private val mostOfTask: Long =
    Runtime.getRuntime.maxMemory / (8L * Runtime.getRuntime.availableProcessors)

  private final class OfTask(manager: TaskMemoryManager)
      extends MemoryConsumer(manager, MemoryMode.ON_HEAP)
      with SortMemory {

    override def holds(bytes: Long): Boolean = bytes <= getUsed || {
      val more = math.max(bytes - getUsed, Step)
      manager.getMemoryConsumptionForThisTask + more <= mostOfTask && acquireMemory(more) == more
    }

    override def free(): Unit = freeMemory(getUsed)

    /** What is held is on its way out. */
    override def spill(size: Long, trigger: MemoryConsumer): Long = 0L
  }
}
