package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.SparkEnv
import org.apache.spark.internal.config.{PUSH_BASED_SHUFFLE_ENABLED, SHUFFLE_USE_OLD_FETCH_PROTOCOL}
import org.apache.spark.shuffle.sort.SortShuffleManager
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.util.AccumulatorV2

/**
 * Accumulator of the inline map outputs of a shuffle: the bytes of each partition ([[RowPacker]]),
 * by the ID of the map task attempt.
 *
 * Several attempts of a map task may add their output. Spark's map output tracker decides which one
 * counts, as it does for outputs in files.
 */
private[exchange] final class InlineOutputs
    extends AccumulatorV2[(Long, Array[Array[Byte]]), Map[Long, Array[Array[Byte]]]] {
  private var outputs = Map.empty[Long, Array[Array[Byte]]]

  override def isZero: Boolean = value.isEmpty
  override def copy(): InlineOutputs = {
    val c = new InlineOutputs
    c.outputs = value
    c
  }
  override def reset(): Unit = synchronized { outputs = Map.empty }
  override def add(output: (Long, Array[Array[Byte]])): Unit = synchronized { outputs += output }
  override def merge(
      other: AccumulatorV2[(Long, Array[Array[Byte]]), Map[Long, Array[Array[Byte]]]]
  ): Unit = {
    val more = other.value
    synchronized { outputs ++= more }
  }

  /** Synchronized: Spark serializes tasks in one thread, and merges their results in another. */
  override def value: Map[Long, Array[Array[Byte]]] = synchronized(outputs)
}

private[physical] object InlineOutputs {

  /**
   * The most bytes of all inline map outputs together. They pass through the driver, and the bytes
   * of a partition through its reading task. Spark warns of a task from 1,000 KiB on.
   */
  private val MostBytes = 900L << 10

  /** The most bytes that may be inline; none: all outputs are in files. */
  def most(conf: SQLConf): Option[Long] =
    Option.when(conf.getConf(StreamJoinConf.StreamExchange) && isSparksOwn)(MostBytes)

  /** Whether Spark's default shuffle is in use, with a unique ID for each attempt of a map task. */
  private def isSparksOwn: Boolean = Option(SparkEnv.get).exists { env =>
    env.shuffleManager.getClass == classOf[SortShuffleManager] &&
    !env.conf.get(PUSH_BASED_SHUFFLE_ENABLED) &&
    !env.conf.get(SHUFFLE_USE_OLD_FETCH_PROTOCOL)
  }
}
