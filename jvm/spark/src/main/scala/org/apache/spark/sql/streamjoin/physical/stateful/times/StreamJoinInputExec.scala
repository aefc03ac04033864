package org.apache.spark.sql.streamjoin.physical.stateful.times

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{
  AnalyzedColumn,
  ColumnOrigin,
  InputSource,
  OrderSource
}

/**
 * Physical operator at the input of a join or an ordered output. It makes the columns nullable
 * that may be NULL in any batch, and passes rows through unchanged.
 *
 * @param columns its columns in the analyzed query
 * @param sources the sources of its rows, known also in a batch without rows
 * @param orders the imposed orders below, with their sources
 */
case class StreamJoinInputExec(
    columns: Seq[AnalyzedColumn],
    sources: Seq[InputSource],
    orders: Seq[OrderSource],
    child: SparkPlan
) extends FusedWithChild
    with PassesRows {

  override def nodeName: String = "StreamJoinInput"

  override def simpleString(maxFields: Int): String = nodeName

  override def argString(maxFields: Int): String = ""

  override lazy val output: Seq[Attribute] = AnalyzedColumn.typed(child.output, columns)

  /** Where its columns are from. */
  def origins: Seq[(Attribute, ColumnOrigin)] = columns.collect {
    case AnalyzedColumn(a: Attribute, _, _, from) => a -> from
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String =
    consume(ctx, input)

  /** The operator reads no column itself. Its consumer evaluates the columns that it reads. */
  override def usedInputs: AttributeSet = AttributeSet.empty

  override protected def withNewChildInternal(newChild: SparkPlan): StreamJoinInputExec =
    copy(child = newChild)
}

private[physical] object StreamJoinInputExec {

  /** The node on an input of an operator. */
  def of(input: SparkPlan): Option[StreamJoinInputExec] =
    input.collectFirst { case i: StreamJoinInputExec => i }
}
