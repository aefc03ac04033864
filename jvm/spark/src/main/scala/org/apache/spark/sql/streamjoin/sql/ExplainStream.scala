package org.apache.spark.sql.streamjoin.sql

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.command.ExplainCommand

/**
 * `EXPLAIN SELECT ...` of a stream shows what `df.explain()` shows.
 *
 * Spark looks for streams in what it has parsed, where a view is a name only, and then plans the query
 * as one of tables. A query that is no stream, or not a right one, is left to Spark.
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
