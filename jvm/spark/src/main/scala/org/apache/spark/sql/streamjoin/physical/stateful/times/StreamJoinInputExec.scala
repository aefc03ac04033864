package org.apache.spark.sql.streamjoin.physical.stateful.times

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, ExprId}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{InputSource, StreamJoinInput}

/**
 * Physical operator at the input of a join or an ordered output. It makes the columns nullable
 * that may be NULL in any batch, and passes rows through unchanged.
 *
 * @param sources the sources of its rows, known also in a batch without rows
 */
case class StreamJoinInputExec(present: Set[ExprId], sources: Seq[InputSource], child: SparkPlan)
    extends FusedWithChild
    with PassesRows {

  override def nodeName: String = "StreamJoinInput"

  override def simpleString(maxFields: Int): String = nodeName

  override def argString(maxFields: Int): String = ""

  override def output: Seq[Attribute] = StreamJoinInput.nullable(child.output, present)

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String =
    consume(ctx, input)

  /** The operator reads no column itself. Its consumer evaluates the columns that it reads. */
  override def usedInputs: AttributeSet = AttributeSet.empty

  override protected def withNewChildInternal(newChild: SparkPlan): StreamJoinInputExec =
    copy(child = newChild)
}

private[physical] object StreamJoinInputExec {

  /** The sources of the rows of an input. */
  def sources(input: SparkPlan): Seq[InputSource] =
    input.collectFirst { case i: StreamJoinInputExec => i.sources }.getOrElse(Nil)
}
