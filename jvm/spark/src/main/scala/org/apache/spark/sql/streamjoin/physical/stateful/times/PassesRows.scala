package org.apache.spark.sql.streamjoin.physical.stateful.times

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{CodegenSupport, UnaryExecNode}

/** Unary operator through which rows pass unchanged. */
private[physical] trait PassesRows extends UnaryExecNode {

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = child.execute()
}

/**
 * Unary operator that takes part in the whole-stage code generation of its child, if the child
 * does.
 */
private[physical] trait FusedWithChild extends UnaryExecNode with CodegenSupport {

  /** Above a child without generated code, a generated loop would only copy rows. */
  override def supportCodegen: Boolean = child match {
    case below: CodegenSupport => below.supportCodegen
    case _                     => false
  }

  private def below: CodegenSupport = child.asInstanceOf[CodegenSupport]

  override def inputRDDs(): Seq[RDD[InternalRow]] = below.inputRDDs()

  override protected def doProduce(ctx: CodegenContext): String = below.produce(ctx, this)
}
