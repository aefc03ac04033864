package org.apache.spark.sql.streamjoin.logical.times

import org.apache.spark.sql.catalyst.expressions.PipeOperator
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * The nodes of Spark's that give each row of their input out in the batch in which it comes, any number
 * of times, with its columns unchanged: watermarks hold for their output as they do for their input.
 *
 * Of any other node nothing is known. It may hold rows back, as a stateful one does, or put other
 * values into a column.
 */
private[logical] object KeepsTimes {

  def unapply(plan: LogicalPlan): Boolean = plan match {
    case _: SubqueryAlias | _: View | _: Subquery | _: CTERelationDef => true
    case _: Filter | _: TypedFilter | _: Sample | _: Sort             => true
    case _: GlobalLimit | _: LocalLimit | _: Offset | _: Tail         => true
    case _: RepartitionOperation | _: RebalancePartitions             => true
    case _: ResolvedHint | _: UnresolvedHint | _: CollectMetrics      => true
    case _: EventTimeWatermark | _: PipeOperator                      => true
    case _: Deduplicate | _: DeduplicateWithinWatermark               => true
    case _: Generate | _: LateralJoin                                 => true
    // of a stream and a table; of two streams, see SparksJoin
    case _: Join => true
    case _       => PythonFunctions.contains(plan.nodeName)
  }

  /** By name: their classes are not the same in all versions of Spark. */
  private val PythonFunctions =
    Set("BatchEvalPython", "ArrowEvalPython", "BatchEvalPythonUDTF", "ArrowEvalPythonUDTF")
}
