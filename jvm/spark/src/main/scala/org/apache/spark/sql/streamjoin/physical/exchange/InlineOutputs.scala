package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.SparkEnv
import org.apache.spark.internal.config.{PUSH_BASED_SHUFFLE_ENABLED, SHUFFLE_USE_OLD_FETCH_PROTOCOL}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.spark.SortShuffleManager
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.util.AccumulatorV2

/**
 * The outputs of a shuffle's map tasks that were so few rows that they came with the results of the tasks: by
 * the number that Spark gives to each attempt of a map task, the rows of each partition ([[RowPacker]]).
 *
 * It is more than one attempt of a task that may tell. Which of them counts is in Spark's register of map
 * outputs, as for those that are in files.
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

  /** Tasks are written on one of Spark's threads, their results are taken in on another. */
  override def value: Map[Long, Array[Array[Byte]]] = synchronized(outputs)
}

private[physical] object InlineOutputs {

  /**
   * Of all map outputs together that are inline: they go through the driver, and a partition's with its task, which
   * Spark calls very large from 1,000 KiB on.
   */
  private val MostBytes = 900L << 10

  /** How many bytes may be inline; none: all outputs are in files. */
  def most(conf: SQLConf): Option[Long] =
    Option.when(conf.getConf(StreamJoinConf.StreamExchange) && isSparksOwn)(MostBytes)

  /** Whether map outputs are where Spark's own code leaves them, and each attempt of a task has a number. */
  private def isSparksOwn: Boolean = Option(SparkEnv.get).exists { env =>
    env.shuffleManager.getClass == classOf[SortShuffleManager] &&
    !env.conf.get(PUSH_BASED_SHUFFLE_ENABLED) &&
    !env.conf.get(SHUFFLE_USE_OLD_FETCH_PROTOCOL)
  }
}
