package org.apache.spark.sql.streamjoin.physical.eventtime

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.streamjoin.checkpoint.HotKeyFiles
import org.apache.spark.sql.streamjoin.run.PerOperator
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo
import org.apache.spark.util.CollectionAccumulator

import io.streamjoin.join.eventtime.{HotKeyRule, TaskLoad}
import io.streamjoin.placement.{HotKeys, ReachBuckets}

/**
 * Which keys of one join are spread, batch by batch, in one run of its query; on the driver.
 *
 * {{{
 *   batch 16 runs            tasks tell which keys have most rows
 *   batch 17 is planned      more keys? written to the checkpoint; from here on the plan spreads them
 *   batch 17 runs
 * }}}
 *
 * A run begins with what the checkpoint has, and finds no more before its first batch.
 */
private[eventtime] final class HotKeyWatch(
    files: HotKeyFiles,
    buckets: ReachBuckets,
    partitions: Int
) extends Logging {

  private var keys: Option[(Long, HotKeys)] = None
  private var told: Option[CollectionAccumulator[TaskLoad]] = None

  /** @param rule by which more keys are found; none: there are to be no more */
  def keysOf(batch: Long, rule: Option[HotKeyRule]): HotKeys = synchronized {
    val now = keys match {
      case Some((`batch`, same))                   => same
      case Some((before, known)) if before < batch => known ++ found(batch, known, rule)
      case _ =>
        files.removeAfter(batch)
        files.read(batch).getOrElse(HotKeys(buckets, Nil))
    }
    if (!keys.exists(_._1 == batch)) told = None
    keys = Some(batch -> now)
    now
  }

  /** A batch is about to run, whose tasks will tell what they see. */
  def listen(loads: CollectionAccumulator[TaskLoad]): Unit = synchronized {
    told = Some(loads)
  }

  private def found(batch: Long, known: HotKeys, rule: Option[HotKeyRule]) = {
    // a task that was run twice has told the same twice
    val loads = told.toSeq.flatMap(_.value.asScala).map(l => l.partition -> l).toMap.values.toSeq
    val more = rule.toSeq.flatMap(_.found(loads, known, partitions))
    if (more.nonEmpty) {
      files.write(batch, known.copy(keys = more))
      logInfo(
        s"${more.length} keys have so many rows that from batch $batch on their rows are spread over " +
          s"the partitions by their times (spark.sql.streamJoin.hotKeys): " +
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
      hadoopConf: => Configuration
  ): HotKeyWatch = watches.of(info) {
    val folder = new Path(info.checkpointLocation, info.operatorId.toString)
    new HotKeyWatch(new HotKeyFiles(folder, hadoopConf), buckets, info.numPartitions)
  }
}
