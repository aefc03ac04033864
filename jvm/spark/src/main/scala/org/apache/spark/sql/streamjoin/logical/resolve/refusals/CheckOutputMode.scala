package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import java.util.Locale

import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Distinct, LogicalPlan}
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.nodes.JoinNode

import io.streamjoin.model.Side

/**
 * Refuses a join above an aggregation in output modes in which the aggregation emits a group again
 * for each change. The join would already have joined the old values. Spark refuses its own joins
 * there, too.
 */
private[streamjoin] object CheckOutputMode extends (LogicalPlan => Unit) {

  override def apply(plan: LogicalPlan): Unit = plan match {
    case w: WriteToStream if w.outputMode != OutputMode.Append() =>
      w.inputQuery.foreach {
        case j: JoinNode if j.kind.byEventTime =>
          for ((side, input) <- Side.both.zip(j.children) if input.exists(isRevised))
            throw StreamJoinErrors.analysis(
              "UNSUPPORTED_OUTPUT_MODE",
              j.origin,
              "side" -> side.name,
              "columns" -> input.output.map(ColumnNames.of).mkString(", "),
              "mode" -> w.outputMode.toString.toLowerCase(Locale.ROOT)
            )
        case _ =>
      }
    case _ =>
  }

  private def isRevised(plan: LogicalPlan): Boolean = plan match {
    case _: Aggregate | _: Distinct => plan.isStreaming
    case _                          => false
  }
}
