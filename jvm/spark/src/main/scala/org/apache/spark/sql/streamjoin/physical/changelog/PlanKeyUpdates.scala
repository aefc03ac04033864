package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  AttributeReference,
  CreateArray,
  Explode,
  If
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{GenerateExec, ProjectExec, SparkPlan}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.SplitKeyUpdates

/**
 * Planner of [[SplitKeyUpdates]] as Spark's `explode` of one or two messages, which has generated
 * code.
 */
private[physical] object PlanKeyUpdates {

  def apply(s: SplitKeyUpdates, planLater: LogicalPlan => SparkPlan): SparkPlan = {
    val message = s.message
    // a new expression ID: by IDs alone, Spark decides whether a projection changes anything
    val each = AttributeReference(message.name, message.dataType, message.nullable)()
    val exploded = GenerateExec(
      Explode(If(
        s.changesKey,
        CreateArray(Seq(s.delete, message)),
        CreateArray(Seq(message))
      )),
      s.child.output.filterNot(_.exprId == message.exprId),
      outer = false,
      Seq(each),
      planLater(s.child)
    )
    ProjectExec(
      s.output.map { a =>
        if (a.exprId != message.exprId) a
        else
          Alias(each, a.name)(a.exprId, a.qualifier, Some(a.metadata))
      },
      exploded
    )
  }
}
