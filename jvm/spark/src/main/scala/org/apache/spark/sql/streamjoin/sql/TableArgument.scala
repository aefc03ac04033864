package org.apache.spark.sql.streamjoin.sql

import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  FunctionTableSubqueryArgumentExpression,
  ScalarSubquery
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** A relation as the argument of a function: `TABLE(t)`, or a query in parentheses. */
private[sql] object TableArgument {
  def unapply(argument: Expression): Option[LogicalPlan] = argument match {
    case t: FunctionTableSubqueryArgumentExpression => Some(t.plan)
    // Spark parses each query in parentheses as a scalar subquery
    case q: ScalarSubquery => Some(q.plan)
    case _                 => None
  }
}
