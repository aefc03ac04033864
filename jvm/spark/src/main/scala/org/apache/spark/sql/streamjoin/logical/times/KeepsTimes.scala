package org.apache.spark.sql.streamjoin.logical.times

import org.apache.spark.sql.catalyst.expressions.PipeOperator
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * Matches nodes of Spark that emit each input row in the same batch, any number of times, with
 * unchanged columns. The watermarks of their input are valid for their output.
 *
 * Any other node may buffer rows, as a stateful one does, or change the values of a column.
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
    // a stream and a table; see SparksJoin for two streams
    case _: Join => true
    case _       => PythonFunctions.contains(plan.nodeName)
  }

  /** Matched by name, since their classes differ between versions of Spark. */
  private val PythonFunctions =
    Set("BatchEvalPython", "ArrowEvalPython", "BatchEvalPythonUDTF", "ArrowEvalPythonUDTF")
}
