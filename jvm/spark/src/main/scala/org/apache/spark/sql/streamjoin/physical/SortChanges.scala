package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.catalyst.expressions.Ascending
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SortExec, SparkPlan}
import org.apache.spark.sql.streamjoin.logical.plan.KeyHash
import org.apache.spark.sql.streamjoin.physical.changelog.{
  ChangelogJoinExec,
  NetOutputExec,
  SortByHashExec
}

/**
 * Sorts changes by the hash of their key with this project's own sort, where Spark has put its own.
 *
 * Among the columnar rules for the reason of [[PackShuffles]]: the sorts are there, and nothing is compiled yet.
 */
object SortChanges extends ColumnarRule {

  override def postColumnarTransitions: Rule[SparkPlan] = (plan: SparkPlan) =>
    plan.transformUp {
      case above @ (_: ChangelogJoinExec | _: NetOutputExec) => above.mapChildren(byHash)
    }

  private def byHash(input: SparkPlan): SparkPlan = input match {
    case s: SortExec if !s.global =>
      s.sortOrder match {
        case Seq(order) if order.direction == Ascending && KeyHash.is(order.child) =>
          SortByHashExec(order, s.child)
        case _ => s
      }
    case other => other
  }
}
