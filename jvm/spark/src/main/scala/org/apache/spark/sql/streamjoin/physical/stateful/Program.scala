package org.apache.spark.sql.streamjoin.physical.stateful

import java.nio.ByteBuffer
import java.util.{ArrayDeque, UUID}

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.streamjoin.run.{PerOperator, RunScope}
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo
import org.apache.spark.util.Utils
import org.apache.spark.{SparkContext, SparkEnv, TaskContext}

/**
 * What the tasks of an operator go by, as far as it is the same from batch to batch.
 *
 * {{{
 *   driver     program, as bytes: broadcast once it has been the same in two batches
 *   executor   bytes --> program --> made ready --> a task of a batch --> back, for a task of the next batch
 * }}}
 *
 * To write a program into the tasks of each batch, to read it in each task and to generate its code anew is
 * more than the rows of a small batch cost. Programs that are equal must make the same ready.
 *
 * @tparam T what a task makes ready of it: generated code above all
 */
private[physical] trait Program[T <: Program.Ready] extends Serializable {

  /** Made of a program that nobody else has, and used by one task at a time: nothing in it need bear two threads. */
  def ready(): T
}

private[physical] object Program {

  trait Ready {

    /** Lets go of the rows of the task that has ended. */
    def forget(): Unit
  }
}

/**
 * A program in the hands of the tasks of one batch.
 *
 * @param run the run of the query
 * @param operator the operator in the run
 * @param edition other where the program is
 * @param own the bytes that came with the task
 * @param shared those that executors have
 */
private[physical] final class HandedProgram[T <: Program.Ready] private (
    run: UUID,
    operator: UUID,
    edition: Long,
    own: Option[Array[Byte]],
    shared: Option[Broadcast[Array[Byte]]]
) extends Serializable {

  /** For the task that asks, until it ends. */
  def forTask(): T = {
    // the scope may be forgotten before the task ends, and is not made again then
    val idle = IdlePrograms.of(run, operator)
    val ready = idle.take[T](edition).getOrElse(read().ready())
    Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit] { task =>
      // nobody knows what is left in one that a failed task has used
      if (!task.isFailed() && !task.isInterrupted()) {
        ready.forget()
        idle.give(edition, ready)
      }
    })
    ready
  }

  /** A program that nobody else has. */
  def read(): Program[T] =
    SparkEnv.get.closureSerializer.newInstance().deserialize[Program[T]](
      ByteBuffer.wrap(own.orElse(shared.map(_.value)).get),
      Utils.getContextOrSparkClassLoader
    )
}

private[physical] object HandedProgram {

  private val last = new PerOperator[Last]

  /** On the driver, for the tasks of a batch. */
  def of[T <: Program.Ready](
      info: StatefulOperatorStateInfo,
      context: SparkContext,
      program: Program[T]
  ): HandedProgram[T] = last.of(info)(new Last(info.queryRunId)).handed(context, program)

  /** The program of the last batch of an operator. */
  private final class Last(run: UUID) {
    private val operator = UUID.randomUUID()
    private var edition = 0L
    private var program: Program[_] = _
    private var bytes: Array[Byte] = _
    private var shared: Option[Broadcast[Array[Byte]]] = None

    def handed[T <: Program.Ready](context: SparkContext, now: Program[T]): HandedProgram[T] =
      synchronized {
        if (now == program) {
          if (shared.isEmpty) {
            shared = Some(context.broadcast(bytes))
            bytes = null
          }
          new HandedProgram(run, operator, edition, None, shared)
        } else {
          edition += 1
          program = now
          bytes = written(now)
          shared = None
          new HandedProgram(run, operator, edition, Some(bytes), None)
        }
      }

    private def written(program: Program[_]): Array[Byte] = {
      val buffer = SparkEnv.get.closureSerializer.newInstance().serialize[AnyRef](program)
      val bytes = new Array[Byte](buffer.remaining)
      buffer.get(bytes)
      bytes
    }
  }
}

/** Programs of this process that no task has at the moment, of one operator in a run. */
private final class IdlePrograms {

  private var edition = 0L
  private val ready = new ArrayDeque[Program.Ready]

  def take[T <: Program.Ready](wanted: Long): Option[T] = synchronized {
    Option.when(edition == wanted)(ready.poll()).filter(_ != null).map(_.asInstanceOf[T])
  }

  def give(of: Long, program: Program.Ready): Unit = synchronized {
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
