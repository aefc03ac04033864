package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.{TimeWindow, WindowExpression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.logical.plan.RowsElsewhere
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ImposeOrder

/** Display names of operators that are not permitted above changes. */
private[resolve] object OperatorName {

  /** The name of an operator in SQL or in the DataFrame API. */
  def name(operator: LogicalPlan): String = operator match {
    case g: Generate                    => s"the generator ${ColumnNames.sql(g.generator)}"
    case e: Expand if isWindow(e)       => "an overlapping window"
    case _: Expand                      => "UNPIVOT"
    case _: Distinct                    => "DISTINCT"
    case _: Deduplicate                 => "dropDuplicates"
    case _: DeduplicateWithinWatermark  => "dropDuplicatesWithinWatermark"
    case _: GlobalLimit | _: LocalLimit => "LIMIT"
    case _: Offset                      => "OFFSET"
    case _: Sample                      => "a sample (TABLESAMPLE)"
    case _: Intersect                   => "INTERSECT"
    case _: Except                      => "EXCEPT"
    case _: Sort                        => "ORDER BY"
    case _: LateralJoin                 => "LATERAL"
    case _: EventTimeWatermark          => "withWatermark"
    case _: ImposeOrder                 => "imposeOrder"
    case w: Window =>
      w.windowExpressions.flatMap(_.collectFirst { case e: WindowExpression => e })
        .headOption
        .fold("a window function")(e => s"the window function ${ColumnNames.sql(e)}")
    case other => other.nodeName
  }

  /** Whether Spark has added the node for windows that overlap: it is their column that is new. */
  def isWindow(e: Expand): Boolean = e.output.exists { a =>
    !e.child.outputSet.contains(a) && a.metadata.contains(TimeWindow.marker)
  }

  /** The advice for an operator between a declaration and a join. */
  def insteadBelow(operator: LogicalPlan): String = operator match {
    case _: Generate | _: Expand =>
      "this operator below the declaration. Add its output to the key, or declare no key"
    case RowsElsewhere(_) => "this operator last, above all others"
    case _                => "only a projection or a filter of columns"
  }

  /** The advice for an operator above the joins. */
  def instead(operator: LogicalPlan): String = operator match {
    case _: Distinct | _: Deduplicate | _: DeduplicateWithinWatermark =>
      "sums by these columns in update mode, SELECT k, sum(CASE WHEN _change_type IN ('insert', 'update_postimage') " +
        "THEN 1 ELSE -1 END) AS n ... GROUP BY k: a row exists if n > 0"
    case _: Intersect => "a semi join, WHERE EXISTS (...)"
    case _: Except    => "an anti join, WHERE NOT EXISTS (...)"
    case _: Window =>
      "an anti join with the later rows, for the last row of each group, WHERE NOT EXISTS " +
        "(SELECT 1 ... later.t > t)"
    case _: LateralJoin                         => "a column of the SELECT"
    case _: EventTimeWatermark | _: ImposeOrder => "this operator on the inputs of the join"
    case other                                  => insteadBelow(other)
  }
}
