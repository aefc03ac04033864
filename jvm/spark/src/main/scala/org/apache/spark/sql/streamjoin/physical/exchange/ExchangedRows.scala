package org.apache.spark.sql.streamjoin.physical.exchange

import java.io.ObjectOutputStream

import org.apache.spark.rdd.RDD
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
import org.apache.spark.sql.streamjoin.spark.{MetadataFetchFailedException, ShuffleBlockId}

/**
 * One input behind a shuffle of several, in its partitions: rows of inline map outputs, which came with the task
 * ([[InlinePart]]), and those of the others, in files as ever.
 *
 * Map tasks may run again after a task was written, when an executor is lost, and what was inline may then be in
 * files or the other way round where an input is not the same each time. So a task looks up which outputs are
 * inline as Spark's register of them has it while it runs, before it asks for the files and again after it: if
 * those are not the ones that it has, it fails as if an output were lost, and is written anew. What was the same
 * before and after was so in between, for no attempt of a map task counts a second time.
 *
 * @param mappers how many map outputs there are
 * @param ranges of the partitions of the shuffle, each with the one behind its last
 * @param fields how many columns a row has
 * @param inline gives the rows of a range that are in no file, on the driver; none: all are in files
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
    chunks.flatMap(RowPacker.rows(_, fields))
  }

  private def withInline(
      come: InlinePart,
      part: ExchangedPart,
      context: TaskContext
  ): Iterator[UnsafeRow] = {
    check(come)
    val others =
      if (come.mapIds.count == mappers) Iterator.empty[UnsafeRow]
      else {
        val chunks = inFiles(part, context)
        check(come)
        chunks
      }
    come.rows.iterator.map(rows => RowPacker.chunkOf(rows, rows.length)) ++ others
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
   * In a task.
   *
   * @param told the partition that says which map outputs are inline
   * @param inline those of which the task has the rows
   * @throws MetadataFetchFailedException if others are inline by now
   */
  def check(tracker: MapOutputTracker, shuffle: Int, told: Int, inline: MapIds): Unit = {
    val now = tracker
      .getMapSizesByExecutorId(shuffle, told)
      .flatMap(_._2.iterator)
      .collect { case (block: ShuffleBlockId, _, _) => block.mapId }
      .toArray
    if (MapIds.of(now) != inline) {
      tracker match {
        // an executor goes by what it was told at first, which may be what is outdated
        case ofExecutor: MapOutputTrackerWorker => ofExecutor.unregisterShuffle(shuffle)
        case _                                  => ()
      }
      throw new MetadataFetchFailedException(
        shuffle,
        told,
        "a map task has run again since the rows of its first run came with this task"
      )
    }
  }
}

/**
 * The rows of a partition that go with the task that reads it.
 *
 * @param mapIds of all map outputs that are inline
 * @param rows of those with rows for the partition
 */
private[exchange] final case class InlinePart(mapIds: MapIds, rows: Array[Array[Byte]])

/** @param now asked on the driver whenever a task is written for it; null: nothing is inline */
private[exchange] final class ExchangedPart(
    override val index: Int,
    val from: Int,
    val until: Int,
    @transient now: () => InlinePart
) extends Partition {

  private var come: Option[InlinePart] = None

  /** In a task. */
  def inline: Option[InlinePart] = come

  private def writeObject(out: ObjectOutputStream): Unit = {
    if (now != null) come = Some(now())
    out.defaultWriteObject()
    // the driver keeps the partition, and what it carries only once
    if (now != null) come = None
  }
}
