package org.apache.spark.sql.streamjoin.physical.exchange

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.internal.config.{PUSH_BASED_SHUFFLE_ENABLED, SHUFFLE_USE_OLD_FETCH_PROTOCOL}
import org.apache.spark.shuffle.sort.SortShuffleManager
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.util.{AccumulatorContext, CollectionAccumulator}

/**
 * Inline map outputs of a shuffle.
 *
 * Several attempts of a map task may add their output. Spark's map output tracker decides which one
 * counts, as it does for outputs in files.
 *
 * @param all the chunks of each partition ([[RowPacker]]), with the ID of the map task attempt
 * @param areShared whether all tasks run in the process of the driver, as in local mode. Then they
 *   use the driver's accumulator. Otherwise the chunks travel with the result of a map task, and
 *   with a reading task
 */
private[exchange] final class InlineOutputs(
    val all: CollectionAccumulator[(Long, Array[Array[UnsafeRow]])],
    val areShared: Boolean
) extends Serializable {
  import InlineOutputs._

  def add(mapId: Long, chunks: Array[Array[UnsafeRow]]): Unit =
    (if (areShared) ofDriver(all.id) else all).add(mapId -> chunks)
}

private[physical] object InlineOutputs {

  /**
   * The most bytes of all inline map outputs together, if they pass through the driver. Spark warns
   * of a reading task from 1,000 KiB on.
   */
  private val MostBytes = 900L << 10

  /** The part of the heap that they may take in local mode, until the next batch is planned. */
  private val PartOfHeap = 32

  /** The most bytes that may be inline; none: all outputs are in files. */
  def most(context: SparkContext, conf: SQLConf): Option[Long] =
    Option.when(conf.getConf(StreamJoinConf.StreamExchange) && isSparksOwn) {
      if (context.isLocal) math.max(MostBytes, Runtime.getRuntime.maxMemory / PartOfHeap)
      else MostBytes
    }

  /** The accumulator of the driver, in its process. */
  private def ofDriver(id: Long): CollectionAccumulator[(Long, Array[Array[UnsafeRow]])] =
    AccumulatorContext.get(id).get
      .asInstanceOf[CollectionAccumulator[(Long, Array[Array[UnsafeRow]])]]

  /** The chunks of some partitions in some map outputs, in the process of the driver. */
  private[exchange] def chunks(id: Long, mapIds: Seq[Long], partitions: Range): Array[UnsafeRow] = {
    val byTask = ofDriver(id).value.asScala.toMap
    partitions.toArray.flatMap(partition => mapIds.flatMap(byTask(_)(partition)))
  }

  /** Whether Spark's default shuffle is in use, with a unique ID for each attempt of a map task. */
  private def isSparksOwn: Boolean = Option(SparkEnv.get).exists { env =>
    env.shuffleManager.getClass == classOf[SortShuffleManager] &&
    !env.conf.get(PUSH_BASED_SHUFFLE_ENABLED) &&
    !env.conf.get(SHUFFLE_USE_OLD_FETCH_PROTOCOL)
  }
}
