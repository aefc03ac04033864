package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, Partitioning}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.{ColumnarRule, SortExec, SparkPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.spark.{NumberedPartitions, SparkCaseClass}
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.physical.changelog.{
  ChangelogJoinExec,
  NetOutputExec,
  SortByHashExec,
  ToUpsertsExec
}
import org.apache.spark.sql.streamjoin.physical.stateful.{PackRowsExec, RowChunk, UnpackRowsExec}

/**
 * Lets changes go through Spark's shuffles in chunks. Where each row goes does not change.
 *
 * The rows of event-time joins go one by one: in chunks W1 cost as much.
 *
 * Among the columnar rules for the reason of [[ExplainBuiltinJoin]]: shuffles are there, and nothing is compiled yet.
 */
object PackShuffles extends ColumnarRule {

  override def postColumnarTransitions: Rule[SparkPlan] =
    (plan: SparkPlan) =>
      if (SQLConf.get.getConf(StreamJoinConf.PackedShuffles)) packed(plan) else plan

  private def packed(plan: SparkPlan): SparkPlan = {
    val below = plan.mapChildren(packed)
    below match {
      case _: ChangelogJoinExec | _: NetOutputExec | _: ToUpsertsExec =>
        below.mapChildren(shuffled)
      case other => other
    }
  }

  private def shuffled(input: SparkPlan): SparkPlan = input match {
    case s @ (_: SortExec | _: SortByHashExec) => s.mapChildren(shuffled)
    case s: ShuffleExchangeExec =>
      s.outputPartitioning match {
        case h: HashPartitioning =>
          NumberedPartitions.by(RowChunk.number, h.numPartitions)
            .fold[SparkPlan](s)(to => UnpackRowsExec(s.child.output, h, inChunks(s, h, to)))
        case _ => s
      }
    case other => other
  }

  private def inChunks(
      s: ShuffleExchangeExec,
      h: HashPartitioning,
      to: Partitioning
  ): ShuffleExchangeExec =
    SparkCaseClass.make(
      classOf[ShuffleExchangeExec],
      to,
      PackRowsExec(h, s.child),
      s.shuffleOrigin,
      None
    )
}
