package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.UnsafeRowSerializer
import org.apache.spark.{
  MapOutputTrackerMaster,
  Partitioner,
  ShuffleDependency,
  SparkContext,
  SparkEnv
}

/**
 * One shuffle for several inputs of an operator, so that a batch has one stage before it, and its tasks one
 * output each.
 *
 * {{{
 *   partitions of the shuffle    0 .. n-1   n .. 2n-1   2n
 *   rows of                      left       right       none: see SmallOutputsWriter
 * }}}
 *
 * Outputs of few rows need no files: they come to the driver with the results of the map tasks, and go with
 * the tasks that read them, which Spark writes out when all map outputs are there.
 *
 * On the driver.
 *
 * @param first of each input, the number of its first partition
 */
private[stateful] final class InputsShuffle private (
    inputs: Seq[NumberedInput],
    first: Seq[Int],
    outputs: SmallOutputs,
    val shuffle: ShuffleDependency[Int, InternalRow, InternalRow]
) {

  private val mappers = shuffle.rdd.getNumPartitions

  /** Which outputs were small when a task was written last. */
  private val last = new AtomicReference(Option.empty[NumberRanges])

  /** Whether all map outputs are there. */
  def isWritten: Boolean = SparkEnv.get.mapOutputTracker match {
    case t: MapOutputTrackerMaster => t.getNumAvailableOutputs(shuffle.shuffleId) == mappers
    case _                         => false
  }

  /** The rows of an input by partition. */
  def rows(input: Int): RDD[InternalRow] =
    new ShuffledInput(
      shuffle,
      mappers,
      first(input),
      inputs(input).partitions,
      inputs(input).fields,
      small
    )

  /**
   * The rows of a partition in the map outputs that are small, of those that count now. Where an output is
   * missing none is told of it: a task learns of that as it would of one in files.
   */
  private def small(partition: Int): SmallPart = {
    val told = outputs.value
    val tracker = SparkEnv.get.mapOutputTracker.asInstanceOf[MapOutputTrackerMaster]
    val register = tracker.shuffleStatuses(shuffle.shuffleId)
    val count = register.withMapStatuses(_.filter(_ != null).map(_.mapId)).filter(told.contains)
    val ids = NumberRanges.of(count)
    if (last.getAndSet(Some(ids)).exists(_ != ids)) {
      // what executors are told is kept, also where a late attempt has come in the place of another
      register.invalidateSerializedMapOutputStatusCache()
    }
    SmallPart(ids, count.map(told(_)(partition)).filter(_ != null))
  }
}

private[stateful] object InputsShuffle {

  /**
   * Of all map outputs together that are small: they go through the driver, and a partition's with its task, which
   * Spark calls very large from 1,000 KiB on.
   */
  private val SmallBytes = 900L << 10

  def of(
      context: SparkContext,
      inputs: Seq[NumberedInput],
      smallBytes: Long = SmallBytes
  ): InputsShuffle = {
    val outputs = new SmallOutputs
    context.register(outputs)
    val rows = new NumberedInputs(context, inputs)
    val first = inputs.scanLeft(0)(_ + _.partitions)
    val shuffle = new ShuffleDependency[Int, InternalRow, InternalRow](
      rows,
      new ByNumber(first.last + 1),
      // of several inputs: who reads them knows how many columns they have
      new UnsafeRowSerializer(0),
      None,
      None,
      false,
      new SmallOutputsWriter(outputs, smallBytes / math.max(1, rows.getNumPartitions))
    )
    new InputsShuffle(inputs, first, outputs, shuffle)
  }

  private final class ByNumber(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = key.asInstanceOf[Int]
  }
}
