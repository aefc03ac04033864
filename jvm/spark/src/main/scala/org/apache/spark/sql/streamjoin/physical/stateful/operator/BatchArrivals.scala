package org.apache.spark.sql.streamjoin.physical.stateful.operator

import java.io.ObjectOutputStream
import java.util.UUID

import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

/**
 * Data about the source columns in one batch, sent from the driver to the tasks.
 *
 * @param arrivals for each source column, the largest event time of the batch by group; without
 *   groups, the rows are one group. Empty for a column of one of Spark's operators
 * @param propagated Spark's watermark for the input of the join at the end of the batch
 * @param batchTimeMs the start time of the batch in the offset log
 * @param maxGroups the largest number of groups of a column
 */
private[physical] final case class BatchArrivals(
    arrivals: Seq[Map[String, Long]],
    propagated: Option[Long],
    batchTimeMs: Long,
    maxGroups: Int
)

private[physical] object BatchArrivals {

  /** The largest event times by the ID of the node that recorded them, and by group. */
  type ByOrder = Map[UUID, Map[String, Long]]

  def merged(of: Seq[ByOrder]): ByOrder =
    of.flatten.groupMapReduce(_._1)(_._2)((a, b) =>
      (a.toSeq ++ b).groupMapReduce(_._1)(_._2)(math.max)
    )

  /** @param noted the times of the batch. All input rows must have reached their shuffles */
  def of(
      bases: Seq[BaseColumn],
      noted: ByOrder,
      batch: BatchInfo,
      maxGroups: Int
  ): BatchArrivals =
    BatchArrivals(
      bases.map {
        case b: BaseColumn.Imposed    => noted.getOrElse(b.id, Map.empty[String, Long])
        case _: BaseColumn.Propagated => Map.empty[String, Long]
      },
      batch.watermarkForEviction,
      batch.timeMs.getOrElse(
        throw new IllegalStateException("the batch has no recorded time; the plan cannot be run")
      ),
      maxGroups
    )
}

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
