package org.apache.spark.sql.streamjoin.physical.eventtime

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.streamjoin.errors.CoPartitioningErrors
import org.apache.spark.sql.streamjoin.physical.stateful.{OperatorsOfRuns, StoredDescription}

/**
 * How many partitions the topics of a join have, which is how many its state has: whatever
 * `spark.sql.shuffle.partitions` says.
 */
private[eventtime] object PartitionsOfTopics {

  private val ofRuns = new OperatorsOfRuns[Known]

  /**
   * In a batch; none where no topic has brought anything yet.
   *
   * @throws StreamJoinRuntimeException `STREAM_JOIN.PARTITION_COUNT` where topics differ, or have more than when the
   *   query began
   */
  def of(
      info: StatefulOperatorStateInfo,
      inputs: Seq[SparkPlan],
      session: SparkSession
  ): Option[Int] = {
    val topics =
      inputs.flatMap(TopicPartitions.scans).flatMap(s => TopicPartitions.topics(s.end).partitions)
    ofRuns.of(info)(new Known(stored(info, session))).seen(topics)
  }

  /** What is wrong with the metadata is said where they are compared, before the first batch. */
  private def stored(info: StatefulOperatorStateInfo, session: SparkSession): Option[Int] =
    Try(StoredDescription.partitions(info, session)).toOption.flatten

  /** @param begun how many the state has */
  private[eventtime] final class Known(private var begun: Option[Int]) {

    private var topics = Map.empty[String, Int]

    /** @param found topics of a batch, with their numbers of partitions */
    def seen(found: Seq[(String, Int)]): Option[Int] = synchronized {
      for ((topic, count) <- found) {
        topics.find(_._2 != count).filter(_._1 != topic).foreach { case (other, already) =>
          throw CoPartitioningErrors.partitionCount(
            s"$topic has $count and $other has $already",
            "Leave co_partitioned out, so that rows are brought together by a shuffle; or write one of the " +
              "topics anew with as many partitions as the other"
          )
        }
        begun.filter(_ != count).foreach { before =>
          throw CoPartitioningErrors.partitionCount(
            s"$topic has $count, and had $before when the query began, so that keys lie elsewhere now",
            "Start the query with a new checkpoint location once all topics have as many; rows that were " +
              "written before lie where they lay, so that it has to begin behind them"
          )
        }
        topics += topic -> count
      }
      begun = begun.orElse(topics.values.headOption)
      begun
    }
  }
}
