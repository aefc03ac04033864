package org.apache.spark.sql.streamjoin.physical.stateful

import java.io.ObjectOutputStream

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
