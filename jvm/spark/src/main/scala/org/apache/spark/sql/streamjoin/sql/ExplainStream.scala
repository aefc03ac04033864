package org.apache.spark.sql.streamjoin.sql

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.command.ExplainCommand

/**
 * Explains a streaming query in `EXPLAIN SELECT ...` as `df.explain()` does.
 *
 * Spark looks for streams in the parsed plan, where a view is only a name, and would plan the query
 * as a batch query. This rule leaves batch queries and invalid queries to Spark.
 */
case class ExplainStream(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case e: ExplainCommand if !e.logicalPlan.isStreaming && !e.logicalPlan.isInstanceOf[Command] =>
      analyzed(e.logicalPlan).filter(_.isStreaming).fold(plan)(p => e.copy(logicalPlan = p))
    case _ => plan
  }

  private def analyzed(query: LogicalPlan): Option[LogicalPlan] = Try {
    session.asInstanceOf[classic.SparkSession].sessionState.executePlan(query).analyzed
  }.toOption
}
