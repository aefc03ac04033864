package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.TaskContext
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}

/** Memory for rows that are sorted without Spark's external sorter. */
private[exchange] trait SortMemory {

  /** Whether this many bytes are granted. */
  def holds(bytes: Long): Boolean

  /** Releases all memory. */
  def free(): Unit
}

private[exchange] object SortMemory {

  /**
   * Memory of a task, acquired from Spark. All sorts of the task share it. It is only a part of the
   * task's memory, since a sort releases it only when its rows have been read.
   */
  def of(task: TaskContext): SortMemory = {
    val memory = new OfTask(task.taskMemoryManager())
    task.addTaskCompletionListener[Unit](_ => memory.free())
    memory
  }

  private val Step = 1L << 18

  /** About a quarter of the memory that Spark grants a task if all cores are busy. */
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

    /** Can not spill, since the rows are being read. */
    override def spill(size: Long, trigger: MemoryConsumer): Long = 0L
  }
}
