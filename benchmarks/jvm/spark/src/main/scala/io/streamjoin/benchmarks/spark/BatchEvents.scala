package io.streamjoin.benchmarks.spark

import scala.collection.mutable

import org.apache.spark.scheduler._
import org.apache.spark.sql.catalyst.QueryPlanningTracker
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.ui.{
  SparkListenerSQLExecutionEnd,
  SparkListenerSQLExecutionStart
}
import org.apache.spark.storage.BroadcastBlockId

/**
 * Events of Spark's scheduler by batch, each of which is one execution.
 *
 * {{{
 *   execution   first job   stages before the last          the last stage         last job   execution
 *   begins      begins      submitted .. tasks .. done      submitted .. done      ends       ends
 * }}}
 *
 * Spark's times are whole milliseconds: means over many batches are exact where one batch is not.
 */
private final class BatchEvents extends SparkListener {
  import BatchEvents._

  private var running = new Running(0)
  private val ended = mutable.ArrayBuffer.empty[Batch]

  def batches: Seq[Batch] = synchronized(ended.toList)

  override def onOtherEvent(event: SparkListenerEvent): Unit = synchronized {
    event match {
      case e: SparkListenerSQLExecutionStart => running = new Running(e.time)
      case e: SparkListenerSQLExecutionEnd if running.jobs > 0 =>
        ended += running.end(e.time, execution(e).tracker)
        running = new Running(0)
      case _ =>
    }
  }

  override def onJobStart(event: SparkListenerJobStart): Unit = synchronized {
    if (running.jobs == 0) running.jobBegan = event.time
    running.jobs += 1
    running.last = event.stageIds.max
  }

  override def onJobEnd(event: SparkListenerJobEnd): Unit = synchronized {
    running.jobEnded = event.time
  }

  override def onStageCompleted(event: SparkListenerStageCompleted): Unit = synchronized {
    val stage = event.stageInfo
    running.stages += 1
    running.accumulators += stage.accumulables.size
    if (stage.stageId != running.last)
      stage.completionTime.foreach(at => running.earlierDone = math.max(running.earlierDone, at))
  }

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit = synchronized {
    val (task, metrics) = (event.taskInfo, Option(event.taskMetrics))
    running.tasks += 1
    if (event.stageId == running.last) {
      running.lastLaunched = math.min(running.lastLaunched, task.launchTime)
      running.tasksDone = math.max(running.tasksDone, task.finishTime)
    } else running.firstLaunched = math.min(running.firstLaunched, task.launchTime)
    running.deserializeMs += metrics.fold(0L)(_.executorDeserializeTime)
    running.runMs += metrics.fold(0L)(_.executorRunTime)
  }

  override def onBlockUpdated(event: SparkListenerBlockUpdated): Unit = synchronized {
    val block = event.blockUpdatedInfo
    block.blockId match {
      case BroadcastBlockId(_, field) if field.startsWith("piece") && block.memSize > 0 =>
        running.broadcasts += 1
        running.broadcastBytes += block.memSize
      case _ =>
    }
  }
}

private object BatchEvents {

  /**
   * @param spans milliseconds that follow each other from the begin of the execution to its end
   * @param phases milliseconds of planning, by phase
   * @param rules nanoseconds of the rules of analysis and optimization, by name
   * @param counts the number of events that occur once for each; times of tasks side by side are
   * summed
   */
  final case class Batch(
      spans: Seq[(String, Long)],
      phases: Seq[(String, Long)],
      rules: Map[String, Long],
      counts: Seq[(String, Long)]
  )

  private final class Running(begun: Long) {
    var (jobBegan, jobEnded, last) = (0L, 0L, -1)
    var (firstLaunched, earlierDone) = (Long.MaxValue, 0L)
    var (lastLaunched, tasksDone) = (Long.MaxValue, 0L)
    var (jobs, stages, tasks, accumulators, broadcasts) = (0, 0, 0, 0, 0)
    var (deserializeMs, runMs, broadcastBytes) = (0L, 0L, 0L)

    def end(at: Long, planned: QueryPlanningTracker): Batch = {
      val earlier =
        if (earlierDone == 0) Nil
        else
          Seq(
            "earlier stages: until a task is launched" -> (firstLaunched - jobBegan),
            "earlier stages: until all is written" -> (earlierDone - firstLaunched)
          )
      Batch(
        Seq("until the job" -> (jobBegan - begun)) ++ earlier ++ Seq(
          "last stage: until a task is launched" ->
            (lastLaunched - (if (earlierDone == 0) jobBegan else earlierDone)),
          "last stage: until the last task is done" -> (tasksDone - lastLaunched),
          "until the job is done" -> (jobEnded - tasksDone),
          "until the execution is done" -> (at - jobEnded)
        ),
        planned.phases.map { case (name, phase) => name -> phase.durationMs }.toSeq,
        planned.rules.map { case (name, rule) => name -> rule.totalTimeNs },
        Seq(
          "jobs" -> jobs.toLong,
          "stages" -> stages.toLong,
          "tasks" -> tasks.toLong,
          "tasks: to deserialize, ms" -> deserializeMs,
          "tasks: to run, ms" -> runMs,
          "accumulators" -> accumulators.toLong,
          "broadcasts" -> broadcasts.toLong,
          "broadcasts: bytes" -> broadcastBytes
        )
      )
    }
  }

  /** Spark has it for its own listeners only. */
  private def execution(end: SparkListenerSQLExecutionEnd): QueryExecution =
    end.getClass.getMethod("qe").invoke(end).asInstanceOf[QueryExecution]
}
