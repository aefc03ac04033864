package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.io.File

import org.apache.spark.SparkEnv
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.spark.StateStoreConf
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.errors.StateErrors

import io.streamjoin.state.segment.{MemoryPool, Spilling}

/** When the states of this process write rows to its local disk, and where. */
private[segment] object LocalDisk {

  /** Of the heap. Spark leaves 40 % of it to user code; a batch in the making needs the rest. */
  private val DefaultShare = 0.3

  /** Of the heap. With what a batch needs beside it, little more would be its end. */
  private val GreatestShare = 0.6

  private val pool = new MemoryPool

  /** What an executor must know of the session's settings. */
  def options(session: SQLConf): Map[String, String] =
    session.getConf(StreamJoinConf.SegmentMemory).map { limit =>
      StreamJoinConf.SegmentMemory.key -> limit.toString
    }.toMap

  def spilling(conf: StateStoreConf): Spilling = {
    val set = conf.extraOptions.get(StreamJoinConf.SegmentMemory.key).map(_.toLong)
    val limit = set.getOrElse(heap(DefaultShare))
    // whoever sets more than that knows of a heap without other use
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

  /** In one of Spark's local folders, a different one each time. */
  private def newFile(): File =
    Option(SparkEnv.get).fold(File.createTempFile("streamjoin", ".rows")) { env =>
      env.blockManager.diskBlockManager.createTempLocalBlock()._2
    }
}
