package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.SparkEnv
import org.apache.spark.internal.config.{PUSH_BASED_SHUFFLE_ENABLED, SHUFFLE_USE_OLD_FETCH_PROTOCOL}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.exchange.{Exchange, ShuffleExchangeExec}
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.spark.SortShuffleManager
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.physical.asof.AsOfJoinExec
import org.apache.spark.sql.streamjoin.physical.eventtime.StreamJoinExec
import org.apache.spark.sql.streamjoin.physical.stateful.JoinExchangeExec

/**
 * Lets the inputs of a join by event time go through one shuffle in the place of one each. Where each row goes
 * does not change. What Spark would shuffle once for two readers stays Spark's.
 *
 * Among the columnar rules for the reason of [[ExplainBuiltinJoin]]: shuffles are there, nothing is compiled yet,
 * and none stands for another yet.
 */
object ShareShuffles extends ColumnarRule {

  override def postColumnarTransitions: Rule[SparkPlan] = (plan: SparkPlan) =>
    if (SQLConf.get.getConf(StreamJoinConf.SharedShuffles) && isSparksOwn) shared(plan) else plan

  private def shared(plan: SparkPlan): SparkPlan = {
    lazy val exchanges = plan.collect { case e: Exchange => e.canonicalized }
    plan.transform {
      case join @ (_: StreamJoinExec | _: AsOfJoinExec) =>
        join.mapChildren {
          case s: ShuffleExchangeExec if exchanges.count(_ == s.canonicalized) == 1 =>
            s.outputPartitioning match {
              case h: HashPartitioning => JoinExchangeExec(h, s.child)
              case _                   => s
            }
          case other => other
        }
    }
  }

  /** Whether map outputs are where Spark's own code leaves them, and each attempt of a task has a number. */
  private def isSparksOwn: Boolean = Option(SparkEnv.get).exists { env =>
    env.shuffleManager.getClass == classOf[SortShuffleManager] &&
    !env.conf.get(PUSH_BASED_SHUFFLE_ENABLED) &&
    !env.conf.get(SHUFFLE_USE_OLD_FETCH_PROTOCOL)
  }
}
