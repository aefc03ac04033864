package org.apache.spark.sql.streamjoin.physical.stateful

import java.io.ObjectOutputStream

/**
 * The [[BatchArrivals]] of a batch, for tasks that read the shuffles of the inputs.
 *
 * It takes its value when Spark serializes the tasks. That happens after all parent stages of the
 * stage have ended, and a stage ends after Spark has merged the accumulators of its tasks. So the
 * value is complete, without a separate job. An earlier serialization yields no value, and a task
 * with it fails instead of using too low a watermark.
 *
 * @param take returns the value once all input rows have been read; called on the driver until then
 */
private[physical] final class StageInputWatermarks(
    @transient private val take: () => Option[BatchArrivals]
) extends Serializable {

  private var come: Option[BatchArrivals] = None

  /** The value. Called in a task. */
  def apply(): BatchArrivals = come.getOrElse(
    throw new IllegalStateException("the task was written before its inputs had been read")
  )

  private def writeObject(out: ObjectOutputStream): Unit = synchronized {
    if (come.isEmpty && take != null) come = take()
    out.defaultWriteObject()
  }
}
