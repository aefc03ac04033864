package org.apache.spark.sql.streamjoin.physical.exchange

import java.util.concurrent.atomic.AtomicReference

import scala.concurrent.duration.Duration
import scala.jdk.CollectionConverters._

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
 * One shuffle for all inputs of an operator. So a batch has one map stage, and each map task has
 * one output.
 *
 * {{{
 *   partition of the shuffle   0 .. n-1   n .. 2n-1   2n
 *   rows of                    left       right       none: see PackingWriter
 * }}}
 *
 * Rows are packed into chunks. A small map output is inline instead of in a file: it reaches the
 * driver with the result of its map task. Spark serializes the reading tasks when all map outputs
 * are complete, and these tasks carry the inline rows. In local mode, tasks use the rows in the
 * heap of the driver, and more of them may be inline.
 *
 * Lives on the driver.
 *
 * @param first the number of each input's first partition
 * @param inline the inline map outputs; none: all outputs are in files
 */
private[physical] final class ExchangeShuffle private (
    inputs: Seq[ExchangeInput],
    first: Seq[Int],
    inline: Option[InlineOutputs],
    private[exchange] val shuffle: ShuffleDependency[Int, InternalRow, InternalRow]
) {

  private val mappers = shuffle.rdd.getNumPartitions

  /** The IDs of the inline map outputs when the last task was serialized. */
  private val last = new AtomicReference(Option.empty[Seq[Long]])

  /** Whether all map outputs are complete. */
  def isWritten: Boolean = ExchangeShuffle.isWritten(shuffle.shuffleId, mappers)

  /**
   * Runs the map stage.
   *
   * @return the bytes of each partition of the shuffle
   */
  def run(): Array[Long] = {
    val written =
      ThreadUtils.awaitResult(shuffle.rdd.context.submitMapStage(shuffle), Duration.Inf)
    Array.tabulate(first.last) { partition =>
      written.bytesByPartitionId(partition) +
        inline.fold(0L)(_ =>
          small(partition, partition + 1)
            .chunks(partition to partition).map(_.getSizeInBytes.toLong).sum
        )
    }
  }

  /** The rows of an input by partition. */
  def rows(input: Int): RDD[InternalRow] =
    rows(input, (0 until inputs(input).partitions).map(p => p -> (p + 1)))

  /**
   * The rows of an input by ranges of its partitions.
   *
   * @param ranges the first partition (inclusive) and the last one (exclusive) of each range
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
   * The rows of some partitions in the inline map outputs that Spark has registered. If an output
   * is missing, the reading task detects that, as it does for an output in a file.
   */
  private def small(from: Int, until: Int): InlinePart = {
    val outputs = inline.get
    val tracker = SparkEnv.get.mapOutputTracker.asInstanceOf[MapOutputTrackerMaster]
    val register = tracker.shuffleStatuses(shuffle.shuffleId)
    val known = outputs.all.value.asScala.map(_._1).toSet
    val ids = register.withMapStatuses(_.filter(_ != null).map(_.mapId)).filter(known).toSeq
    if (last.getAndSet(Some(ids)).exists(_ != ids)) {
      // the tracker caches the serialized statuses, even if a late attempt has replaced another one
      register.invalidateSerializedMapOutputStatusCache()
    }
    InlinePart(
      ids,
      outputs.all.id,
      Option.unless(outputs.areShared)(
        InlineOutputs.chunks(outputs.all.id, ids, from until until)
      )
    )
  }
}

private[physical] object ExchangeShuffle {

  /** Whether all map outputs of a shuffle are complete, on the driver. */
  def isWritten(shuffle: Int, mappers: Int): Boolean = SparkEnv.get.mapOutputTracker match {
    case t: MapOutputTrackerMaster => t.getNumAvailableOutputs(shuffle) == mappers
    case _                         => false
  }

  /**
   * @param most the most bytes of all inline map outputs together; none: all outputs are in files
   * @param areShared see [[InlineOutputs]]
   */
  def of(
      context: SparkContext,
      inputs: Seq[ExchangeInput],
      most: Option[Long],
      areShared: Boolean
  ): ExchangeShuffle = {
    val inline = most.map(_ => new InlineOutputs(context.collectionAccumulator, areShared))
    val first = inputs.scanLeft(0)(_ + _.partitions)
    val rows = united(context, inputs.zip(first).map { case (input, i) => input.numbered(i) })
    val shuffle = new ShuffleDependency[Int, InternalRow, InternalRow](
      rows,
      new ByNumber(first.last + 1),
      // for chunks; the reader knows the number of columns of their rows
      new UnsafeRowSerializer(0),
      None,
      None,
      false,
      new PackingWriter(inline.map(_ -> most.get / math.max(1, rows.getNumPartitions)))
    )
    new ExchangeShuffle(inputs, first, inline, shuffle)
  }

  /**
   * The rows of all inputs. A task reads a partition of each input under two conditions. Else it
   * reads one partition of one input.
   *
   * - There are at least as many tasks as cores.
   * - No partition has a preferred location.
   *
   * {{{
   *   left    0   1          tasks   0: left 0, right 0
   *   right   0   1   2              1: left 1, right 1
   *                                  2: right 2
   * }}}
   */
  private def united(context: SparkContext, inputs: Seq[RDD[NumberedRow]]): RDD[NumberedRow] = {
    val tasks = inputs.map(_.getNumPartitions).max
    def anywhere = inputs.forall { rows =>
      rows.partitions.indices.forall(context.getPreferredLocs(rows, _).isEmpty)
    }
    if (tasks >= context.defaultParallelism && anywhere)
      inputs.map { rows =>
        val missing = tasks - rows.getNumPartitions
        if (missing == 0) rows
        else rows.union(context.parallelize(Seq.empty[NumberedRow], missing))
      }.reduce((left, right) => left.zipPartitions(right)(_ ++ _))
    else context.union(inputs)
  }

  private final class ByNumber(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = key.asInstanceOf[Int]
  }
}
