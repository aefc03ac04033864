package org.apache.spark.sql.streamjoin.physical.stateful

import java.nio.ByteBuffer
import java.util.{ArrayDeque, UUID}

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.streamjoin.run.{PerOperator, RunScope}
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo
import org.apache.spark.util.Utils
import org.apache.spark.{SparkContext, SparkEnv, TaskContext}

/**
 * Plan of the tasks of a stateful operator: the part that most batches have in common.
 *
 * {{{
 *   driver     program --> bytes; broadcast if two successive batches have the same program
 *   executor   bytes --> program --> ready() --> a task --> pool --> a task of the next batch
 * }}}
 *
 * Three steps would cost more than the rows of a small batch: to serialize the program in each
 * batch, to deserialize it in each task, and to generate its code. So tasks share the results of
 * `ready()`. Equal programs must have equal results.
 *
 * @tparam T the objects that a task prepares from the program, mainly generated code
 */
private[physical] trait TaskPlan[T <: TaskPlan.Ready] extends Serializable {

  /**
   * Prepares the objects of a task. It is called on a copy of the program that nothing else uses.
   * One task at a time uses the result, which need not be thread-safe.
   */
  def ready(): T
}

private[physical] object TaskPlan {

  trait Ready {

    /** Releases the rows of a task that has ended. */
    def forget(): Unit
  }
}

/**
 * Handle of the program in the tasks of one batch.
 *
 * @param run the run of the query
 * @param operator the operator in the run
 * @param edition a number that changes with the program
 * @param own the bytes, serialized with the task
 * @param shared the bytes, broadcast to the executors
 */
private[physical] final class TaskPlanHandle[T <: TaskPlan.Ready] private (
    run: UUID,
    operator: UUID,
    edition: Long,
    own: Option[Array[Byte]],
    shared: Option[Broadcast[Array[Byte]]]
) extends Serializable {

  /** The prepared objects, reserved for the calling task until it ends. */
  def forTask(): T = {
    // resolved before the task ends: a scope that was removed meanwhile must not be created again
    val idle = IdlePrograms.of(run, operator)
    val ready = idle.take[T](edition).getOrElse(read().ready())
    Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit] { task =>
      // a failed task leaves the objects in an unknown state
      if (!task.isFailed() && !task.isInterrupted()) {
        ready.forget()
        idle.give(edition, ready)
      }
    })
    ready
  }

  /** Deserializes a copy of the program. */
  def read(): TaskPlan[T] =
    SparkEnv.get.closureSerializer.newInstance().deserialize[TaskPlan[T]](
      ByteBuffer.wrap(own.orElse(shared.map(_.value)).get),
      Utils.getContextOrSparkClassLoader
    )
}

private[physical] object TaskPlanHandle {

  private val last = new PerOperator[Last]

  /** Creates the handle of a batch. Called on the driver. */
  def of[T <: TaskPlan.Ready](
      info: StatefulOperatorStateInfo,
      context: SparkContext,
      program: TaskPlan[T]
  ): TaskPlanHandle[T] = last.of(info)(new Last(info.queryRunId)).handed(context, program)

  /** The program of an operator in its last batch. */
  private final class Last(run: UUID) {
    private val operator = UUID.randomUUID()
    private var edition = 0L
    private var program: TaskPlan[_] = _
    private var bytes: Array[Byte] = _
    private var shared: Option[Broadcast[Array[Byte]]] = None

    def handed[T <: TaskPlan.Ready](context: SparkContext, now: TaskPlan[T]): TaskPlanHandle[T] =
      synchronized {
        if (now == program) {
          if (shared.isEmpty) {
            shared = Some(context.broadcast(bytes))
            bytes = null
          }
          new TaskPlanHandle(run, operator, edition, None, shared)
        } else {
          edition += 1
          program = now
          bytes = written(now)
          shared = None
          new TaskPlanHandle(run, operator, edition, Some(bytes), None)
        }
      }

    private def written(program: TaskPlan[_]): Array[Byte] = {
      val buffer = SparkEnv.get.closureSerializer.newInstance().serialize[AnyRef](program)
      val bytes = new Array[Byte](buffer.remaining)
      buffer.get(bytes)
      bytes
    }
  }
}

/** Pool of prepared objects that no task of this process uses, for one operator of a run. */
private final class IdlePrograms {

  private var edition = 0L
  private val ready = new ArrayDeque[TaskPlan.Ready]

  def take[T <: TaskPlan.Ready](wanted: Long): Option[T] = synchronized {
    Option.when(edition == wanted)(ready.poll()).filter(_ != null).map(_.asInstanceOf[T])
  }

  def give(of: Long, program: TaskPlan.Ready): Unit = synchronized {
    if (of > edition) {
      edition = of
      ready.clear()
    }
    if (of == edition) ready.push(program)
  }
}

private object IdlePrograms {

  def of(run: UUID, operator: UUID): IdlePrograms =
    RunScope.of(run).kept((IdlePrograms, operator))(new IdlePrograms)
}
