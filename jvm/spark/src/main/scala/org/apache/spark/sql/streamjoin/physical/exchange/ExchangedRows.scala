package org.apache.spark.sql.streamjoin.physical.exchange

import java.io.ObjectOutputStream

import org.apache.spark.rdd.RDD
import org.apache.spark.shuffle.MetadataFetchFailedException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.{
  Dependency,
  MapOutputTracker,
  MapOutputTrackerWorker,
  Partition,
  ShuffleDependency,
  SparkEnv,
  TaskContext
}
import org.apache.spark.storage.ShuffleBlockId

/**
 * RDD of one input behind a shuffle of several. A task reads the inline map outputs that it carries
 * ([[InlinePart]]), and then the other ones from files.
 *
 * If an executor is lost, Spark runs map tasks again after a reading task was serialized. An output
 * of an input that is not deterministic can then change between inline and file. So the task asks
 * Spark's map output tracker which outputs are inline, before and after it opens the files:
 *
 * - Equal to the outputs that it carries: no output changed in between, because Spark never
 *   registers one attempt of a map task twice.
 * - Different: the task fails as if an output was lost, and Spark serializes it again.
 *
 * @param mappers the number of map outputs
 * @param ranges the first partition of the shuffle (inclusive) and the last one (exclusive), by
 *   task
 * @param fields the number of columns
 * @param inline the inline rows of a range, on the driver; none: all outputs are in files
 */
private[exchange] final class ExchangedRows(
    shuffle: ShuffleDependency[Int, InternalRow, InternalRow],
    mappers: Int,
    ranges: Seq[(Int, Int)],
    fields: Int,
    @transient inline: Option[(Int, Int) => InlinePart]
) extends RDD[InternalRow](shuffle.rdd.context, Nil) {

  override protected def getDependencies: Seq[Dependency[_]] = Seq(shuffle)

  override protected def getPartitions: Array[Partition] =
    ranges.zipWithIndex.map { case ((from, until), i) =>
      new ExchangedPart(i, from, until, inline.map(of => () => of(from, until)).orNull)
    }.toArray

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] = {
    val part = split.asInstanceOf[ExchangedPart]
    val chunks = part.inline match {
      case None       => inFiles(part, context)
      case Some(rows) => withInline(rows, part, context)
    }
    RowPacker.rows(chunks, fields)
  }

  private def withInline(
      arrived: InlinePart,
      part: ExchangedPart,
      context: TaskContext
  ): Iterator[UnsafeRow] = {
    check(arrived)
    val others =
      if (arrived.mapIds.length == mappers) Iterator.empty[UnsafeRow]
      else {
        val chunks = inFiles(part, context)
        check(arrived)
        chunks
      }
    arrived.chunks(part.from until part.until).iterator ++ others
  }

  private def inFiles(part: ExchangedPart, context: TaskContext): Iterator[UnsafeRow] =
    SparkEnv.get.shuffleManager
      .getReader[Int, InternalRow](
        shuffle.shuffleHandle,
        part.from,
        part.until,
        context,
        context.taskMetrics().createTempShuffleReadMetrics()
      )
      .read()
      .map(_._2.asInstanceOf[UnsafeRow])

  private def check(part: InlinePart): Unit =
    ExchangedRows.check(
      SparkEnv.get.mapOutputTracker,
      shuffle.shuffleId,
      shuffle.partitioner.numPartitions - 1,
      part.mapIds
    )
}

private[exchange] object ExchangedRows {

  /**
   * Checks the inline map outputs in a task.
   *
   * @param marker the partition whose size marks an inline map output
   * @param inline the IDs of the map outputs whose rows the task carries
   * @throws MetadataFetchFailedException if other map outputs are inline now
   */
  def check(tracker: MapOutputTracker, shuffle: Int, marker: Int, inline: Seq[Long]): Unit = {
    val now = tracker
      .getMapSizesByExecutorId(shuffle, marker)
      .flatMap(_._2.iterator)
      .collect { case (block: ShuffleBlockId, _, _) => block.mapId }
      .toSeq
    if (now.sorted != inline.sorted) {
      tracker match {
        // an executor caches the first statuses that it fetched, which may be outdated
        case ofExecutor: MapOutputTrackerWorker => ofExecutor.unregisterShuffle(shuffle)
        case _                                  => ()
      }
      throw new MetadataFetchFailedException(
        shuffle,
        marker,
        "a map task has run again since the rows of its first run came with this task"
      )
    }
  }
}

/**
 * The inline rows for a reading task.
 *
 * @param mapIds the IDs of all inline map outputs
 * @param outputs the ID of their accumulator
 * @param carried the chunks for the task, if it runs in another process than the driver
 */
private[exchange] final case class InlinePart(
    mapIds: Seq[Long],
    outputs: Long,
    carried: Option[Array[UnsafeRow]]
) {
  def chunks(partitions: Range): Array[UnsafeRow] =
    carried.getOrElse(InlineOutputs.chunks(outputs, mapIds, partitions))
}

/**
 * @param now the inline rows, evaluated on the driver when a task is serialized; null: no output is
 *   inline
 */
private[exchange] final class ExchangedPart(
    override val index: Int,
    val from: Int,
    val until: Int,
    @transient now: () => InlinePart
) extends Partition {

  private var arrived: Option[InlinePart] = None

  /** The inline rows, in a task. */
  def inline: Option[InlinePart] = arrived

  private def writeObject(out: ObjectOutputStream): Unit = {
    if (now != null) arrived = Some(now())
    out.defaultWriteObject()
    // the driver keeps the partition; without this it would keep the rows as well
    if (now != null) arrived = None
  }
}
