package org.apache.spark.sql.streamjoin.physical.stateful

import java.io.ObjectOutputStream

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

import io.streamjoin.model.Watermarks

/**
 * What the driver tells the tasks of one batch about the source columns.
 *
 * @param arrivals for each source column, the largest value the batch brought; for a column of one of
 *   Spark's own operators, nothing
 * @param propagated Spark's watermark for the join's input at the end of the batch
 * @param batchTimeMs when the batch began, as recorded in the offset log
 */
private[physical] final case class BatchArrivals(
    arrivals: Seq[Arrival],
    propagated: Option[Long],
    batchTimeMs: Long
)

private[physical] object BatchArrivals {

  /** What a batch has brought, once the inputs have been run up to their shuffles. */
  def of(bases: Seq[BaseColumn], inputs: Seq[SparkPlan], batch: BatchInfo): BatchArrivals = {
    val noted = JoinInputs.arrivals(inputs)
    BatchArrivals(
      bases.map {
        case b: BaseColumn.Imposed    => noted.getOrElse(b.id, Arrival(Watermarks.Unknown))
        case _: BaseColumn.Propagated => Arrival(Watermarks.Unknown)
      },
      batch.watermarkForEviction,
      batch.timeMs.getOrElse(
        throw new IllegalStateException("the batch has no recorded time; the plan cannot be run")
      )
    )
  }
}

/**
 * What a batch brings, for tasks that run behind the shuffles of their inputs.
 *
 * Spark writes out what the tasks of a stage have to do when all stages that they read from are done, and
 * what tasks have noted is counted before their stage is done. So this is complete when it is written for
 * the tasks, and no job has to be run to know it before. Written any earlier it is empty, and a task that
 * got it so fails rather than to go by too low a watermark.
 *
 * @param take what has come, once all of it has; asked on the driver, until it gives something
 */
private[physical] final class AwaitedArrivals(
    @transient private val take: () => Option[BatchArrivals]
) extends Serializable {

  private var come: Option[BatchArrivals] = None

  /** What the batch has brought; in a task. */
  def apply(): BatchArrivals = come.getOrElse(
    throw new IllegalStateException("the task was written before its inputs had been read")
  )

  private def writeObject(out: ObjectOutputStream): Unit = synchronized {
    if (come.isEmpty && take != null) come = take()
    out.defaultWriteObject()
  }
}
