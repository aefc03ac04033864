package org.apache.spark.sql.streamjoin.physical.stateful.operator

import scala.concurrent.duration.Duration

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
import org.apache.spark.sql.streamjoin.physical.exchange.{ExchangeShuffle, StreamExchangeExec}
import org.apache.spark.sql.streamjoin.physical.stateful.times.ImposeOrderExec
import org.apache.spark.sql.streamjoin.spark.SparkFactories
import org.apache.spark.util.ThreadUtils

/**
 * Inputs of a join down to their shuffles. Once these shuffles are written, all rows of the batch
 * have been read, and their largest event times are known.
 */
private[physical] object JoinInputs {

  /** Both inputs as executed, with one common shuffle if their exchanges support it. */
  def shuffled(
      left: SparkPlan,
      right: SparkPlan,
      distributions: Seq[Distribution]
  ): Seq[SparkPlan] = {
    val both = Seq(shuffled(left, distributions.head), shuffled(right, distributions.last))
    StreamExchangeExec.together(both.collect { case e: StreamExchangeExec => e })
    both
  }

  /**
   * An input as executed. It gets a shuffle in two cases:
   *
   *  - The tasks of the join would otherwise compute the event times of its rows.
   *  - Every task of the join reads all of its rows.
   *
   * An input without a required distribution remains as it is.
   */
  def shuffled(input: SparkPlan, distribution: Distribution): SparkPlan =
    if (distribution == UnspecifiedDistribution) {
      input
    } else if (input.isInstanceOf[SortExec]) {
      // the sort within partitions must follow the shuffle
      input.mapChildren(shuffled(_, distribution))
    } else if (!isShuffle(input) && (distribution == AllTuples || unseen(input))) {
      val partitions = distribution.requiredNumPartitions.get
      SparkFactories.shuffle(
        distribution.createPartitioning(partitions),
        input,
        REQUIRED_BY_STATEFUL_OPERATOR
      )
    } else {
      input
    }

  /**
   * The rows of an input for each partition of the join. With `AllTuples`, each partition has all
   * rows.
   */
  def rows(input: SparkPlan, distribution: Distribution, partitions: Int): RDD[InternalRow] =
    if (distribution == AllTuples) {
      val everything: ShufflePartitionSpec = CoalescedPartitionSpec(0, 1)
      sparksOwn(input).get
        .getShuffleRDD(Array.fill(partitions)(everything))
        .asInstanceOf[RDD[InternalRow]]
    } else {
      input.execute()
    }

  /**
   * Executes the shuffle of an input before its rows are read, including joins below. Without a
   * shuffle, it does nothing.
   */
  def run(input: SparkPlan): Unit = input match {
    case ReusedExchangeExec(_, original) => run(original)
    case e: StreamExchangeExec           => e.shuffle.run(): Unit
    case other =>
      sparksOwn(other).foreach { s =>
        ThreadUtils.awaitReady(s.submitShuffleJob(), Duration.Inf).value.get.get
      }
  }

  /**
   * Whether all rows of the inputs have been read: the nearest shuffles below are written. For a
   * join in between, the shuffles of its own inputs count.
   */
  def areRead(inputs: Seq[SparkPlan]): Boolean = inputs.forall(isRead)

  private def isRead(plan: SparkPlan): Boolean = plan match {
    case ReusedExchangeExec(_, original) => isRead(original)
    case s: ShuffleExchangeLike          => ExchangeShuffle.isWritten(s.shuffleId, s.numMappers)
    case e: StreamExchangeExec           => e.shuffle.isWritten
    case _: ImposeOrderExec              => false
    case j: StatefulBinaryExec           => j.read.forall(isRead)
    case other                           => other.children.forall(isRead)
  }

  /** The largest event times of this batch. */
  def arrivals(inputs: Seq[SparkPlan]): BatchArrivals.ByOrder =
    BatchArrivals.merged(orders(inputs).map(order => Map(order.orderId -> order.arrived)))

  /** All nodes that record event times, also below other joins. */
  def orders(inputs: Seq[SparkPlan]): Seq[ImposeOrderExec] = inputs.flatMap(noted(_)(_ => false))

  /**
   * The number of rows of this batch that are too far ahead. Rows below another join are in the
   * metric of that join.
   */
  def ahead(input: SparkPlan): Long =
    noted(input)(_.isInstanceOf[StatefulBinaryExec]).map(_.ahead).sum

  /**
   * Whether the topmost node of a plan is a shuffle. Its rows are computed once the shuffle has
   * run.
   */
  def isShuffle(plan: SparkPlan): Boolean = plan match {
    case _: ShuffleExchangeLike | _: ReusedExchangeExec | _: StreamExchangeExec => true
    case _                                                                      => false
  }

  /** Whether the tasks that read the rows of a plan would compute their event times. */
  def unseen(plan: SparkPlan): Boolean =
    noted(plan)(p => isShuffle(p) || p.isInstanceOf[StatefulBinaryExec]).nonEmpty

  private def sparksOwn(plan: SparkPlan): Option[ShuffleExchangeLike] = plan match {
    case ReusedExchangeExec(_, original) => sparksOwn(original)
    case s: ShuffleExchangeLike          => Some(s)
    case _                               => None
  }

  /**
   * The nodes of a plan that record event times.
   *
   * @param isEnd whether a node is left out, and all nodes below it
   */
  private def noted(plan: SparkPlan)(isEnd: SparkPlan => Boolean): Seq[ImposeOrderExec] =
    plan match {
      case end if isEnd(end)               => Nil
      case ReusedExchangeExec(_, original) => noted(original)(isEnd)
      case o: ImposeOrderExec              => o +: noted(o.child)(isEnd)
      case other                           => other.children.flatMap(noted(_)(isEnd))
    }
}
