package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import java.util.Locale

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{InOrder, StreamOrder}
import org.apache.spark.sql.streamjoin.logical.resolve.orders.StreamOrderBuilder
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns

/**
 * Analyzer rule that replaces `ORDER BY` an event time of a stream by this project's ordered
 * output. Spark would refuse it. Any other sort of a stream is refused with advice.
 *
 * A sort above an aggregation is valid in complete mode. The output mode is known when the query
 * starts, so the sort remains until then.
 */
object ResolveStreamOrder extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case w: WriteToStreamStatement if w.inputQuery.resolved => started(w)
    case _ =>
      plan.resolveOperatorsUp {
        case s: Sort if isOfStream(s) => new StreamOrderBuilder(s).build.getOrElse(s)
      }
  }

  private def started(w: WriteToStreamStatement): LogicalPlan =
    if (w.outputMode == OutputMode.Append()) {
      AnalysisHelper.allowInvokingTransformsInAnalyzer {
        w.copy(inputQuery = InOrder.of(w.inputQuery.transformUp {
          case s: Sort if s.resolved && s.child.isStreaming && checked =>
            new StreamOrderBuilder(s).build.fold(throw _, identity)
        }))
      }
    } else {
      if (w.outputMode == OutputMode.Update()) {
        w.inputQuery.foreach {
          case s @ (_: Sort | _: StreamOrder) if s.isStreaming && checked =>
            throw StreamJoinErrors.unsupportedOrder(
              s.origin,
              s"in output mode ${w.outputMode.toString.toLowerCase(Locale.ROOT)} the query " +
                "emits rows again after each change, and not when their position is final",
              "Write the query in append mode, outputMode(\"append\"), which real-time mode does not have"
            )
          case _ =>
        }
      }
      w
    }

  /**
   * Refuses sorts that are invalid in any output mode, and orders that a node above does not
   * preserve.
   */
  object Check extends (LogicalPlan => Unit) {
    override def apply(plan: LogicalPlan): Unit = plan.foreach {
      case s: Sort if isOfStream(s) && checked =>
        new StreamOrderBuilder(s).build.left.foreach(throw _)
      case p if undoes(p) =>
        for (o <- p.children.flatMap(StreamOrder.orderedBy) if o.isInstanceOf[StreamOrder])
          throw StreamJoinErrors.unsupportedOrder(
            o.origin,
            s"${p.nodeName} above it does not keep the order of its rows",
            "Sort last, or remove this ORDER BY: it has no effect below this operator"
          )
      case _ =>
    }

    /** Whether a node changes the order of its rows. */
    private def undoes(plan: LogicalPlan): Boolean = plan match {
      case Repartition(partitions, _, _) => partitions > 1
      case _: RepartitionOperation | _: Sort | _: StreamOrder | _: Window | _: Aggregate =>
        true
      case _: Distinct | _: Deduplicate | _: DeduplicateWithinWatermark | _: MapGroups => true
      case p => p.children.length > 1 || TimeColumns.isStateful(p)
    }
  }

  /** Whether a sort of a stream is independent of the output mode. */
  private def isOfStream(s: Sort): Boolean =
    s.resolved && s.child.isStreaming && !s.child.exists {
      case a @ (_: Aggregate | _: Distinct) => a.isStreaming
      case j: Join                          => ResolveStreamJoin.isAwaited(j)
      case _                                => false
    }

  /** Whether Spark's checks are on. Without them, Spark sorts each batch separately. */
  private def checked: Boolean = conf.isUnsupportedOperationCheckEnabled
}
