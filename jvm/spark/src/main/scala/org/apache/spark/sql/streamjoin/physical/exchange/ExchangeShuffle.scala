package org.apache.spark.sql.streamjoin.physical.exchange

import java.util.concurrent.atomic.AtomicReference

import scala.concurrent.duration.Duration

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.UnsafeRowSerializer
import org.apache.spark.util.ThreadUtils
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
 *   rows of                      left       right       none: see PackingWriter
 * }}}
 *
 * Rows are packed into chunks. Outputs of few rows need no files: they come to the driver with the results
 * of the map tasks, and go with the tasks that read them, which Spark writes out when all map outputs are
 * there.
 *
 * On the driver.
 *
 * @param first of each input, the number of its first partition
 * @param inline the outputs that need no files; none: all are in files
 */
private[physical] final class ExchangeShuffle private (
    inputs: Seq[ExchangeInput],
    first: Seq[Int],
    inline: Option[InlineOutputs],
    private[exchange] val shuffle: ShuffleDependency[Int, InternalRow, InternalRow]
) {

  private val mappers = shuffle.rdd.getNumPartitions

  /** Which outputs were inline when a task was written last. */
  private val last = new AtomicReference(Option.empty[MapIds])

  /** Whether all map outputs are there. */
  def isWritten: Boolean = SparkEnv.get.mapOutputTracker match {
    case t: MapOutputTrackerMaster => t.getNumAvailableOutputs(shuffle.shuffleId) == mappers
    case _                         => false
  }

  /**
   * Runs the inputs up to the shuffle.
   *
   * @return how many bytes there are of each partition of the shuffle
   */
  def run(): Array[Long] = {
    val written =
      ThreadUtils.awaitResult(shuffle.rdd.context.submitMapStage(shuffle), Duration.Inf)
    Array.tabulate(first.last) { partition =>
      written.bytesByPartitionId(partition) +
        inline.fold(0L)(_ => small(partition, partition + 1).rows.map(_.length.toLong).sum)
    }
  }

  /** The rows of an input by partition. */
  def rows(input: Int): RDD[InternalRow] =
    rows(input, (0 until inputs(input).partitions).map(p => p -> (p + 1)))

  /**
   * The rows of an input by ranges of its partitions.
   *
   * @param ranges of each, the first partition and the one behind the last
   */
  def rows(input: Int, ranges: Seq[(Int, Int)]): RDD[InternalRow] =
    new ExchangedRows(
      shuffle,
      mappers,
      ranges.map { case (from, until) => (first(input) + from, first(input) + until) },
      inputs(input).fields,
      inline.map(_ => small(_, _))
    )

  /**
   * The rows of some partitions in the map outputs that are inline, of those that count now. Where an output
   * is missing none is told of it: a task learns of that as it would of one in files.
   */
  private def small(from: Int, until: Int): InlinePart = {
    val told = inline.get.value
    val tracker = SparkEnv.get.mapOutputTracker.asInstanceOf[MapOutputTrackerMaster]
    val register = tracker.shuffleStatuses(shuffle.shuffleId)
    val count = register.withMapStatuses(_.filter(_ != null).map(_.mapId)).filter(told.contains)
    val ids = MapIds.of(count)
    if (last.getAndSet(Some(ids)).exists(_ != ids)) {
      // what executors are told is kept, also where a late attempt has come in the place of another
      register.invalidateSerializedMapOutputStatusCache()
    }
    InlinePart(
      ids,
      for (
        partition <- (from until until).toArray; id <- count; rows = told(id)(partition)
        if rows != null
      )
        yield rows
    )
  }
}

private[physical] object ExchangeShuffle {

  /** @param most how many bytes of all map outputs together may be inline; none: they are in files */
  def of(
      context: SparkContext,
      inputs: Seq[ExchangeInput],
      most: Option[Long]
  ): ExchangeShuffle = {
    val inline = most.map { _ =>
      val outputs = new InlineOutputs
      context.register(outputs)
      outputs
    }
    val rows = new ExchangeInputs(context, inputs)
    val first = inputs.scanLeft(0)(_ + _.partitions)
    val shuffle = new ShuffleDependency[Int, InternalRow, InternalRow](
      rows,
      new ByNumber(first.last + 1),
      // of chunks: who reads their rows knows how many columns they have
      new UnsafeRowSerializer(0),
      None,
      None,
      false,
      new PackingWriter(inline.map(_ -> most.get / math.max(1, rows.getNumPartitions)))
    )
    new ExchangeShuffle(inputs, first, inline, shuffle)
  }

  private final class ByNumber(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = key.asInstanceOf[Int]
  }
}
