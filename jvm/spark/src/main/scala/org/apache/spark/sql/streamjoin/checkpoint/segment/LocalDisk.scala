package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.io.File

import org.apache.spark.SparkEnv
import org.apache.spark.sql.execution.streaming.state.StateStoreConf
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.StreamJoinConf

import io.streamjoin.state.segment.{MemoryPool, Spilling}

/** When the states of this process write rows to its local disk, and where. */
private[segment] object LocalDisk {

  /** Of the heap. Spark leaves 40 % of it to user code; a batch in the making needs the rest. */
  private val DefaultShare = 0.3

  private val pool = new MemoryPool

  /** What an executor must know of the session's settings. */
  def options(session: SQLConf): Map[String, String] =
    session.getConf(StreamJoinConf.SegmentMemory).map { limit =>
      StreamJoinConf.SegmentMemory.key -> limit.toString
    }.toMap

  def spilling(conf: StateStoreConf): Spilling = {
    val limit = conf.extraOptions.get(StreamJoinConf.SegmentMemory.key).map(_.toLong)
    Spilling(pool, limit.getOrElse(heapShare), () => newFile())
  }

  private def heapShare: Long = (Runtime.getRuntime.maxMemory * DefaultShare).toLong

  /** In one of Spark's local folders, a different one each time. */
  private def newFile(): File =
    Option(SparkEnv.get).fold(File.createTempFile("streamjoin", ".rows")) { env =>
      env.blockManager.diskBlockManager.createTempLocalBlock()._2
    }
}
