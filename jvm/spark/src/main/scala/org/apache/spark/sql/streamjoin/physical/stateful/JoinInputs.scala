package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.UUID

import scala.concurrent.Future
import scala.concurrent.duration.Duration

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.physical.{AllTuples, Distribution}
import org.apache.spark.sql.execution.{CoalescedPartitionSpec, ShufflePartitionSpec, SparkPlan}
import org.apache.spark.sql.execution.exchange._
import org.apache.spark.sql.streamjoin.shims.SparkCaseClass
import org.apache.spark.util.ThreadUtils

/**
 * Runs the inputs of a join up to their shuffles, so that all rows of the batch have been seen, and
 * their largest event times are known, before the join itself is planned in detail.
 */
private[physical] object JoinInputs {

  /**
   * The input, with a shuffle where it would otherwise be computed by the join's own tasks, or where
   * all of them read all of it.
   */
  def shuffled(input: SparkPlan, distribution: Distribution): SparkPlan =
    if (!isShuffle(input) && (distribution == AllTuples || unseen(input))) {
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
      shuffles(input).head
        .getShuffleRDD(Array.fill(partitions)(everything))
        .asInstanceOf[RDD[InternalRow]]
    } else {
      input.execute()
    }

  /** Runs all shuffles right below; joins of ours in between run theirs as they are executed. */
  def materialize(inputs: Seq[SparkPlan]): Unit = {
    inputs.foreach(executeJoins)
    val jobs: Seq[Future[_]] = inputs.flatMap(shuffles).map(_.submitShuffleJob())
    jobs.foreach(ThreadUtils.awaitReady(_, Duration.Inf).value.get.get)
  }

  /** The largest event times of this batch, by the id of the node that noted them. */
  def arrivals(inputs: Seq[SparkPlan]): Map[UUID, Arrival] =
    inputs
      .flatMap(noted)
      .groupMapReduce(_.orderId)(_.largest.value.longValue)(math.max)
      .view
      .mapValues(Arrival(_))
      .toMap

  /** How many rows of this batch were too far ahead; those below another join count there. */
  def ahead(input: SparkPlan): Long = input match {
    case _: StatefulBinaryExec           => 0L
    case o: ImposeOrderExec              => o.ahead + ahead(o.child)
    case ReusedExchangeExec(_, original) => ahead(original)
    case other                           => other.children.map(ahead).sum
  }

  /** Whether the rows of a plan have been computed once its shuffles have run. */
  def isShuffle(plan: SparkPlan): Boolean = plan match {
    case _: ShuffleExchangeLike | _: ReusedExchangeExec => true
    case _                                              => false
  }

  private def unseen(plan: SparkPlan): Boolean = plan match {
    case _: ShuffleExchangeLike | _: ReusedExchangeExec | _: StatefulBinaryExec => false
    case _: ImposeOrderExec                                                     => true
    case other => other.children.exists(unseen)
  }

  private def executeJoins(plan: SparkPlan): Unit = plan match {
    case j: StatefulBinaryExec                          => j.execute()
    case _: ShuffleExchangeLike | _: ReusedExchangeExec => ()
    case other                                          => other.children.foreach(executeJoins)
  }

  private def shuffles(plan: SparkPlan): Seq[ShuffleExchangeLike] = plan match {
    case s: ShuffleExchangeLike                        => Seq(s)
    case ReusedExchangeExec(_, s: ShuffleExchangeLike) => Seq(s)
    case _: StatefulBinaryExec                         => Nil
    case other                                         => other.children.flatMap(shuffles)
  }

  private def noted(plan: SparkPlan): Seq[ImposeOrderExec] = plan match {
    case o: ImposeOrderExec              => o +: noted(o.child)
    case ReusedExchangeExec(_, original) => noted(original)
    case other                           => other.children.flatMap(noted)
  }
}
