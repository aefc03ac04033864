package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.UUID

import scala.concurrent.duration.Duration

import org.apache.spark.{MapOutputTrackerMaster, SparkEnv}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.physical.{
  AllTuples,
  Distribution,
  UnspecifiedDistribution
}
import org.apache.spark.sql.execution.{
  CoalescedPartitionSpec,
  ShufflePartitionSpec,
  SortExec,
  SparkPlan
}
import org.apache.spark.sql.execution.exchange._
import org.apache.spark.sql.streamjoin.physical.exchange.StreamExchangeExec
import org.apache.spark.sql.streamjoin.spark.SparkCaseClass
import org.apache.spark.util.ThreadUtils

/**
 * The inputs of a join up to their shuffles: when these have been written, all rows of the batch have been
 * seen, and their largest event times are known.
 */
private[physical] object JoinInputs {

  /** The inputs as they are run: shuffled, and through one shuffle if the exchange can do so. */
  def shuffled(
      left: SparkPlan,
      right: SparkPlan,
      distributions: Seq[Distribution]
  ): (SparkPlan, SparkPlan) = {
    val both = (shuffled(left, distributions.head), shuffled(right, distributions.last))
    StreamExchangeExec.together(Seq(both._1, both._2).collect { case e: StreamExchangeExec => e })
    both
  }

  /**
   * The input, with a shuffle where it would otherwise be computed by the join's own tasks, or where
   * all of them read all of it. One of which nothing is asked has its own.
   */
  def shuffled(input: SparkPlan, distribution: Distribution): SparkPlan =
    if (distribution == UnspecifiedDistribution) {
      input
    } else if (input.isInstanceOf[SortExec]) {
      // the order within a partition is made behind the shuffle
      input.mapChildren(shuffled(_, distribution))
    } else if (!isShuffle(input) && (distribution == AllTuples || unseen(input))) {
      val partitions = distribution.requiredNumPartitions.get
      SparkCaseClass.make(
        classOf[ShuffleExchangeExec],
        distribution.createPartitioning(partitions),
        input,
        REQUIRED_BY_STATEFUL_OPERATOR,
        None
      )
    } else {
      input
    }

  /** The rows of an input by partition of the join; of what all partitions need, all of it each. */
  def rows(input: SparkPlan, distribution: Distribution, partitions: Int): RDD[InternalRow] =
    if (distribution == AllTuples) {
      val everything: ShufflePartitionSpec = CoalescedPartitionSpec(0, 1)
      sparksOwn(input).get
        .getShuffleRDD(Array.fill(partitions)(everything))
        .asInstanceOf[RDD[InternalRow]]
    } else {
      input.execute()
    }

  /** Runs an input that is a shuffle, joins below it too, before its rows are asked for. */
  def run(input: SparkPlan): Unit = input match {
    case ReusedExchangeExec(_, original) => run(original)
    case e: StreamExchangeExec           => e.shuffle.run(): Unit
    case other =>
      sparksOwn(other).foreach { s =>
        ThreadUtils.awaitReady(s.submitShuffleJob(), Duration.Inf).value.get.get
      }
  }

  /**
   * Whether all rows have been read, of joins in between those of their inputs too: the shuffles that come
   * first below have been written.
   */
  def areRead(inputs: Seq[SparkPlan]): Boolean = inputs.forall(isRead)

  private def isRead(plan: SparkPlan): Boolean = plan match {
    case ReusedExchangeExec(_, original) => isRead(original)
    case s: ShuffleExchangeLike          => isWritten(s)
    case e: StreamExchangeExec           => e.shuffle.isWritten
    case _: ImposeOrderExec              => false
    case j: EventTimeExec                => j.read.forall(isRead)
    case other                           => other.children.forall(isRead)
  }

  private def isWritten(shuffle: ShuffleExchangeLike): Boolean =
    SparkEnv.get.mapOutputTracker match {
      case tracker: MapOutputTrackerMaster =>
        tracker.getNumAvailableOutputs(shuffle.shuffleId) == shuffle.numMappers
      case _ => false
    }

  /** The largest event times of this batch, by the id of the node that noted them. */
  def arrivals(inputs: Seq[SparkPlan]): Map[UUID, Long] =
    inputs
      .flatMap(noted)
      .groupMapReduce(_.orderId)(_.largest.value.longValue)(math.max)

  /** How many rows of this batch were too far ahead; those below another join count there. */
  def ahead(input: SparkPlan): Long = input match {
    case _: StatefulBinaryExec           => 0L
    case o: ImposeOrderExec              => o.ahead + ahead(o.child)
    case ReusedExchangeExec(_, original) => ahead(original)
    case other                           => other.children.map(ahead).sum
  }

  /** Whether the rows of a plan have been computed once its shuffles have run. */
  def isShuffle(plan: SparkPlan): Boolean = plan match {
    case _: ShuffleExchangeLike | _: ReusedExchangeExec | _: StreamExchangeExec => true
    case _                                                                      => false
  }

  private def unseen(plan: SparkPlan): Boolean = plan match {
    case shuffle if isShuffle(shuffle) => false
    case _: StatefulBinaryExec         => false
    case _: ImposeOrderExec            => true
    case other                         => other.children.exists(unseen)
  }

  private def sparksOwn(plan: SparkPlan): Option[ShuffleExchangeLike] = plan match {
    case ReusedExchangeExec(_, original) => sparksOwn(original)
    case s: ShuffleExchangeLike          => Some(s)
    case _                               => None
  }

  private def noted(plan: SparkPlan): Seq[ImposeOrderExec] = plan match {
    case o: ImposeOrderExec              => o +: noted(o.child)
    case ReusedExchangeExec(_, original) => noted(original)
    case other                           => other.children.flatMap(noted)
  }
}
