package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.{Partition, TaskContext}
import org.apache.spark.executor.TaskMetrics
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.util.{AccumulatorV2, CollectionAccumulator}

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.Watermarks
import io.streamjoin.watermark.JoinWatermarks

/**
 * The watermarks of tasks that read their inputs by themselves, without a shuffle: nobody knows what the others
 * bring before all are done.
 *
 * {{{
 *   late             what all partitions had seen when the batch before had ended       told by the driver
 *   evicted at first the same: that is what the batch before has proved
 *   evicted at last  the same, or what the partition itself has seen, if that is more   at least what it will be told
 * }}}
 *
 * So rows match, and are late, as behind a shuffle; one that is to come out without a match may do so a batch
 * later. What comes from a join below in the same task is as late as that evicts: its watermarks follow from what
 * the partition has evicted by, not from what it is told.
 *
 * @param begun what all partitions had seen
 * @param orders by source column, the accumulators that note its largest time in the task
 * @param aheadBy by metric, those that count rows which were too far ahead
 * @param told takes what the partition goes by in the end
 */
private[physical] final class OwnArrivals(
    begun: BegunWatermarks,
    orders: IndexedSeq[Seq[Long]],
    aheadBy: Seq[(String, Seq[Long])],
    propagated: Option[Long],
    batchTimeMs: Long,
    told: CollectionAccumulator[PartitionWatermarks]
) extends WatermarksOfBatch {

  override def open(
      partition: Int,
      bases: Seq[BaseColumn],
      watermarks: JoinWatermarks,
      numbers: StoredNumbers
  ): TaskWatermarks = {
    val task = TaskContext.get()
    val stored = watermarks.received(BaseWatermarks.stored(bases.length, numbers))
    val aheadOfOthers = countedAhead(task)
    new TaskWatermarks {
      override def evicted: Array[Long] = stored

      override val before: Array[Long] = {
        val seen = watermarks.received(begun.watermarks)
        watermarks.inputs.indices.map { column =>
          if (watermarks.inputs(column).isOfJoin) stored(column)
          else math.max(stored(column), seen(column))
        }.toArray
      }

      override def known: Array[Long] = before

      override lazy val base: BaseWatermarks = {
        val noted = OwnArrivals.noted(task.taskMetrics(), orders)
        val now = bases.indices.map { i =>
          val own = bases(i) match {
            case _: BaseColumn.Propagated => BaseWatermarks.propagated(propagated)
            case b: BaseColumn.Imposed =>
              if (noted(i) == Watermarks.Unknown) noted(i) else Saturated.subtract(noted(i), b.lag)
          }
          math.max(begun.watermarks(i), own)
        }
        val active = bases.indices.map { i =>
          if (noted(i) != Watermarks.Unknown) batchTimeMs
          else begun.lastActiveMs(i).getOrElse(batchTimeMs)
        }
        BaseWatermarks(begun.watermarks, now.toArray, active.toArray)
      }

      override lazy val now: Array[Long] = watermarks.received(base.now)

      override def save(numbers: StoredNumbers): Unit = {
        numbers.put(PartitionWatermarks.BatchTime, batchTimeMs)
        told.add(PartitionWatermarks(
          partition,
          base.now.toSeq,
          base.lastActiveMs.toSeq,
          batchTimeMs
        ))
      }

      override def ahead: Map[String, Long] = countedAhead(task).map { case (metric, rows) =>
        metric -> (rows - aheadOfOthers(metric))
      }
    }
  }

  /** How many rows the task has found too far ahead until now, of other partitions too. */
  private def countedAhead(task: TaskContext): Map[String, Long] = aheadBy.map {
    case (metric, ids) => metric -> ids.flatMap(OwnArrivals.counted(task.taskMetrics(), _)).sum
  }.toMap
}

private[physical] object OwnArrivals {

  /** The source columns whose times are noted below some inputs, with the accumulators that do. */
  def noting(bases: Seq[BaseColumn], inputs: Seq[SparkPlan]): IndexedSeq[Seq[Long]] = {
    val noted = inputs.flatMap(JoinInputs.noted).groupMap(_.orderId)(_.largest.id)
    bases.map {
      case b: BaseColumn.Imposed    => noted.getOrElse(b.id, Nil)
      case _: BaseColumn.Propagated => Nil
    }.toIndexedSeq
  }

  /**
   * The rows of an input that notes times, of which each partition notes its own alone: a task has several of them
   * where what comes out is put together, as by `coalesce`, and what a partition goes by must not depend on that.
   */
  def apart(input: SparkPlan, rows: RDD[InternalRow]): RDD[InternalRow] =
    new NotedApart(rows, JoinInputs.noted(input).map(_.largest.id))

  private final class NotedApart(rows: RDD[InternalRow], orders: Seq[Long])
      extends RDD[InternalRow](rows) {

    override protected def getPartitions: Array[Partition] = firstParent[InternalRow].partitions

    override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] = {
      orders.flatMap(accumulator(context.taskMetrics(), _)).foreach(_.reset())
      firstParent[InternalRow].iterator(split, context)
    }
  }

  /** The largest times in a partition so far; one that nothing in the task notes has not come. */
  private def noted(task: TaskMetrics, ids: IndexedSeq[Seq[Long]]): IndexedSeq[Long] =
    ids.map(_.flatMap(accumulator(task, _)).collect { case a: LargestTime =>
      a.value.longValue
    }.maxOption.getOrElse(Watermarks.Unknown))

  private def counted(task: TaskMetrics, id: Long): Option[Long] =
    accumulator(task, id).map(_.value).collect { case rows: Long => rows }

  private def accumulator(task: TaskMetrics, id: Long): Option[AccumulatorV2[_, _]] =
    task.withExternalAccums(_.find(_.id == id))
}
