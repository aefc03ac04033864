package org.apache.spark.sql.streamjoin.physical.stateful

import java.io.ObjectOutputStream

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

import io.streamjoin.watermark.JoinWatermarks

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
) extends WatermarksOfBatch {

  private var come: Option[BatchArrivals] = None

  /** What the batch has brought; in a task. */
  def apply(): BatchArrivals = come.getOrElse(
    throw new IllegalStateException("the task was written before its inputs had been read")
  )

  override def open(
      partition: Int,
      bases: Seq[BaseColumn],
      watermarks: JoinWatermarks,
      numbers: StoredNumbers
  ): TaskWatermarks = {
    val all = BaseWatermarks.next(bases, watermarks.rivals, apply(), numbers)
    new TaskWatermarks {
      override val before: Array[Long] = watermarks.received(all.before)
      override val now: Array[Long] = watermarks.received(all.now)
      override def evicted: Array[Long] = before
      override def known: Array[Long] = now
      override def base: BaseWatermarks = all
      override def save(numbers: StoredNumbers): Unit = ()
      override def ahead: Map[String, Long] = Map.empty
    }
  }

  private def writeObject(out: ObjectOutputStream): Unit = synchronized {
    if (come.isEmpty && take != null) come = take()
    out.defaultWriteObject()
  }
}
