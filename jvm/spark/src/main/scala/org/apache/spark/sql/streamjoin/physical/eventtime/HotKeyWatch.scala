package org.apache.spark.sql.streamjoin.physical.eventtime

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streamjoin.checkpoint.{HotKeyFiles, HotKeySums}
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

  private var keys: Option[KeysOfBatch] = None
  private var reported: Option[CollectionAccumulator[TaskLoad]] = None

  /** @param rule detects further hot keys; none: the set of hot keys does not grow */
  def keysOf(batch: Long, rule: Option[HotKeyRule]): KeysOfBatch = synchronized {
    val now = keys match {
      case Some(same) if same.batch == batch => same
      case Some(last) if last.batch < batch =>
        KeysOfBatch(batch, Some(last.keys), last.keys ++ found(batch, last.keys, rule))
      case _ =>
        files.removeAfter(batch)
        val now = files.read(batch).getOrElse(HotKeys(buckets, Nil))
        KeysOfBatch(batch, files.read(batch - 1), now)
    }
    if (!keys.exists(_.batch == batch)) reported = None
    keys = Some(now)
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

/** The hot keys of a batch, and those of the batch before it. */
private[eventtime] final case class KeysOfBatch(
    batch: Long,
    before: Option[HotKeys],
    keys: HotKeys
) {
  val sums: HotKeySums = HotKeySums(HotKeySums.of(before), HotKeySums.of(Some(keys)))
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
