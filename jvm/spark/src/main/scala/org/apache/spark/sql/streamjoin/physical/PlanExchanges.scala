package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.catalyst.expressions.{Ascending, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.{ColumnarRule, SortExec, SparkPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.logical.plan.analysis.KeyHash
import org.apache.spark.sql.streamjoin.physical.asof.AsOfJoinExec
import org.apache.spark.sql.streamjoin.physical.changelog.ChangelogJoinExec
import org.apache.spark.sql.streamjoin.physical.consolidate.ConsolidateExec
import org.apache.spark.sql.streamjoin.physical.eventtime.StreamJoinExec
import org.apache.spark.sql.streamjoin.physical.exchange.{ByKey, StreamExchangeExec}
import org.apache.spark.sql.streamjoin.physical.ordered.StreamOrderExec

/**
 * Columnar rule that replaces Spark's hash exchange below this project's operators, and the sort by
 * key hash above it. Each row is routed to the same partition as before.
 *
 * {{{
 *   Sort [hash(id)]                          StreamExchange hashpartitioning(id, 200),
 *   +- Exchange hashpartitioning(id, 200)      sorted by hash(id)
 * }}}
 *
 * At the time of the columnar rules the exchanges are planned, nothing is compiled, and no exchange
 * is reused yet. See [[ExplainBuiltinJoin]] for these rules.
 */
object PlanExchanges extends ColumnarRule {

  override def postColumnarTransitions: Rule[SparkPlan] = (plan: SparkPlan) =>
    if (!SQLConf.get.getConf(StreamJoinConf.StreamExchange)) plan
    else
      plan.transform {
        case operator @ (_: StreamJoinExec | _: AsOfJoinExec | _: ChangelogJoinExec |
            _: ConsolidateExec | _: StreamOrderExec) =>
          operator.mapChildren(exchanged)
      }

  private def exchanged(input: SparkPlan): SparkPlan = input match {
    case s: SortExec if !s.global =>
      (exchanged(s.child), s.sortOrder) match {
        case (e: StreamExchangeExec, Seq(by)) if isByHash(by) => e.copy(order = Some(by))
        case (child, _)                                       => s.copy(child = child)
      }
    case s: ShuffleExchangeExec =>
      s.outputPartitioning match {
        case h: HashPartitioning => StreamExchangeExec(ByKey(h), None, s.child)
        case _                   => s
      }
    case other => other
  }

  private def isByHash(order: SortOrder): Boolean =
    order.direction == Ascending && KeyHash.is(order.child)
}
