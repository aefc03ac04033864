package org.apache.spark.sql.streamjoin.physical.eventtime

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streamjoin.checkpoint.HotKeyFiles
import org.apache.spark.sql.streamjoin.run.PerOperator
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo
import org.apache.spark.util.CollectionAccumulator

import io.streamjoin.join.eventtime.{HotKeyRule, TaskLoad}
import io.streamjoin.placement.{HotKeys, ReachBuckets}

/**
 * Detection of hot keys for one join in one run of its query. Rows of a hot key are spread over the
 * partitions by time bucket. Runs on the driver.
 *
 * {{{
 *   batch 16 runs         tasks report their keys with most rows
 *   batch 17 is planned   new hot keys: written to the checkpoint, and the plan spreads their rows
 *   batch 17 runs
 * }}}
 *
 * A run starts with the hot keys of the checkpoint. It adds none before its first batch has run.
 */
private[eventtime] final class HotKeyWatch(
    files: HotKeyFiles,
    buckets: ReachBuckets,
    partitions: Int
) extends Logging {

  private var keys: Option[(Long, HotKeys)] = None
  private var reported: Option[CollectionAccumulator[TaskLoad]] = None

  /** @param rule detects further hot keys; none: the set of hot keys does not grow */
  def keysOf(batch: Long, rule: Option[HotKeyRule]): HotKeys = synchronized {
    val now = keys match {
      case Some((`batch`, same))                   => same
      case Some((before, known)) if before < batch => known ++ found(batch, known, rule)
      case _ =>
        files.removeAfter(batch)
        files.read(batch).getOrElse(HotKeys(buckets, Nil))
    }
    if (!keys.exists(_._1 == batch)) reported = None
    keys = Some(batch -> now)
    now
  }

  /** Collects the load reports of the tasks of the next batch. */
  def listen(loads: CollectionAccumulator[TaskLoad]): Unit = synchronized {
    reported = Some(loads)
  }

  private def found(batch: Long, known: HotKeys, rule: Option[HotKeyRule]) = {
    // a task that ran twice has reported twice
    val loads =
      reported.toSeq.flatMap(_.value.asScala).map(l => l.partition -> l).toMap.values.toSeq
    val more = rule.toSeq.flatMap(_.found(loads, known, partitions))
    if (more.nonEmpty) {
      files.write(batch, known.copy(keys = more))
      logInfo(
        s"${more.length} hot keys: from batch $batch on, the join spreads their rows over the " +
          "partitions by time (spark.sql.streamJoin.hotKeys): " +
          more.map(key => s"one of partition ${key.partition}").mkString(", ")
      )
    }
    more
  }
}

private[eventtime] object HotKeyWatch {

  private val watches = new PerOperator[HotKeyWatch]

  def of(
      info: StatefulOperatorStateInfo,
      buckets: ReachBuckets,
      session: SparkSession
  ): HotKeyWatch = watches.planned(info, session) {
    val folder = new Path(info.checkpointLocation, info.operatorId.toString)
    val files = new HotKeyFiles(folder, session.sessionState.newHadoopConf())
    new HotKeyWatch(files, buckets, info.numPartitions)
  }
}
