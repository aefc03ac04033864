package org.apache.spark.sql.streamjoin.api

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.{Rule, RuleExecutor}

/**
 * Rule that applies other rules to a plan, each once and in order. It runs them as a batch of
 * Spark, which logs and times each rule by its name: see `spark.sql.planChangeLog.level`.
 */
private[api] final class Phase(stage: String, val rules: Rule[LogicalPlan]*)
    extends Rule[LogicalPlan] {

  override val ruleName: String = s"streamjoin: $stage"

  private object Executor extends RuleExecutor[LogicalPlan] {
    // one iteration, without the check of Spark's `Once` that a second one changes nothing:
    // Spark itself iterates until the plan is resolved
    override protected def batches: Seq[Batch] =
      Seq(Batch(ruleName, FixedPoint(1), rules: _*))
  }

  override def apply(plan: LogicalPlan): LogicalPlan = Executor.execute(plan)
}
