package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.io.File

import org.apache.spark.SparkEnv
import org.apache.spark.sql.execution.streaming.state.StateStoreConf
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.errors.StateErrors

import io.streamjoin.state.segment.pages.{MemoryPool, Spilling}

/** Spill settings of the states in this process. */
private[segment] object LocalDisk {

  /**
   * Share of the heap. Spark reserves 40 % of the heap for user code, and a running batch requires
   * the rest.
   */
  private val DefaultShare = 0.3

  /**
   * Share of the heap. Together with the memory of a batch, a larger share would exhaust the heap.
   */
  private val GreatestShare = 0.6

  private[segment] val pool = new MemoryPool

  /** The settings of the session that executors require. */
  def options(session: SQLConf): Map[String, String] =
    session.getConf(StreamJoinConf.SegmentMemory).map { limit =>
      StreamJoinConf.SegmentMemory.key -> limit.toString
    }.toMap

  def spilling(conf: StateStoreConf): Spilling = {
    val set = conf.extraOptions.get(StreamJoinConf.SegmentMemory.key).map(_.toLong)
    val limit = set.getOrElse(heap(DefaultShare))
    // a larger limit that the user has set takes precedence
    val most = math.max(limit, heap(GreatestShare))
    Spilling(
      pool,
      limit,
      () => newFile(),
      most,
      StateErrors.stateMemoryExceeded(_, limit, most, Runtime.getRuntime.maxMemory)
    )
  }

  private def heap(share: Double): Long = (Runtime.getRuntime.maxMemory * share).toLong

  /** A new file in one of Spark's local folders. */
  private def newFile(): File =
    Option(SparkEnv.get).fold(File.createTempFile("streamjoin", ".rows")) { env =>
      env.blockManager.diskBlockManager.createTempLocalBlock()._2
    }
}
