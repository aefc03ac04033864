package org.apache.spark.sql.streamjoin.physical.stateful

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
 * One input behind a shuffle of several, in its partitions: rows of small map outputs, which came with the task
 * ([[SmallPart]]), and those of the others, in files as ever.
 *
 * Map tasks may run again after a task was written, when an executor is lost, and what was small may then be in
 * files or the other way round where an input is not the same each time. So a task looks up which outputs are
 * small as Spark's register of them has it while it runs, before it asks for the files and again after it: if
 * those are not the ones that it has, it fails as if an output were lost, and is written anew. What was the same
 * before and after was so in between, for no attempt of a map task counts a second time.
 *
 * @param mappers how many map outputs there are
 * @param first the number of the input's first partition in the shuffle
 * @param count of its partitions
 * @param fields how many columns a row has
 * @param small gives the rows of a partition of the shuffle that are in no file, on the driver
 */
private[stateful] final class ShuffledInput(
    shuffle: ShuffleDependency[Int, InternalRow, InternalRow],
    mappers: Int,
    first: Int,
    count: Int,
    fields: Int,
    @transient small: Int => SmallPart
) extends RDD[InternalRow](shuffle.rdd.context, Nil) {

  override protected def getDependencies: Seq[Dependency[_]] = Seq(shuffle)

  override protected def getPartitions: Array[Partition] =
    Array.tabulate(count)(i => new ShuffledPart(i, () => small(first + i)))

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] = {
    val part = split.asInstanceOf[ShuffledPart].small
    check(part)
    val inFiles =
      if (part.mapIds.count == mappers) Iterator.empty[InternalRow]
      else {
        val rows = written(first + split.index, context)
        check(part)
        rows
      }
    if (part.rows.isEmpty) inFiles
    else part.rows.iterator.flatMap(FewRows.read(_, fields)) ++ inFiles
  }

  private def written(partition: Int, context: TaskContext): Iterator[InternalRow] = {
    val row = new UnsafeRow(fields)
    SparkEnv.get.shuffleManager
      .getReader[Int, InternalRow](
        shuffle.shuffleHandle,
        partition,
        partition + 1,
        context,
        context.taskMetrics().createTempShuffleReadMetrics()
      )
      .read()
      .map { read =>
        val bytes = read._2.asInstanceOf[UnsafeRow]
        row.pointTo(bytes.getBaseObject, bytes.getBaseOffset, bytes.getSizeInBytes)
        row
      }
  }

  private def check(part: SmallPart): Unit =
    ShuffledInput.check(
      SparkEnv.get.mapOutputTracker,
      shuffle.shuffleId,
      shuffle.partitioner.numPartitions - 1,
      part.mapIds
    )
}

private[stateful] object ShuffledInput {

  /**
   * In a task.
   *
   * @param told the partition that says which map outputs are small
   * @param small those of which the task has the rows
   * @throws MetadataFetchFailedException if others are small by now
   */
  def check(tracker: MapOutputTracker, shuffle: Int, told: Int, small: NumberRanges): Unit = {
    val now = tracker
      .getMapSizesByExecutorId(shuffle, told)
      .flatMap(_._2.iterator)
      .collect { case (block: ShuffleBlockId, _, _) => block.mapId }
      .toArray
    if (NumberRanges.of(now) != small) {
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
 * @param mapIds of all map outputs that are small
 * @param rows of those with rows for the partition
 */
private[stateful] final case class SmallPart(mapIds: NumberRanges, rows: Array[Array[Byte]])

/** @param now asked on the driver whenever a task is written for it */
private final class ShuffledPart(override val index: Int, @transient now: () => SmallPart)
    extends Partition {

  private var come: SmallPart = _

  /** In a task. */
  def small: SmallPart = come

  private def writeObject(out: ObjectOutputStream): Unit = {
    if (now != null) come = now()
    out.defaultWriteObject()
    // the driver keeps the partition, and what it carries only once
    if (now != null) come = null
  }
}
