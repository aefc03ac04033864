package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.execution.{CodegenSupport, UnaryExecNode}

/**
 * An operator that is a part of the loop that Spark generates for what is below, where that is one: what is below, this
 * and what is above are one.
 */
private[physical] trait InLoopBelow extends UnaryExecNode with CodegenSupport {

  /** Above rows that are there already a loop would only copy them. */
  override def supportCodegen: Boolean = child match {
    case below: CodegenSupport => below.supportCodegen
    case _                     => false
  }

  private def below: CodegenSupport = child.asInstanceOf[CodegenSupport]

  override def inputRDDs(): Seq[RDD[InternalRow]] = below.inputRDDs()

  override protected def doProduce(ctx: CodegenContext): String = below.produce(ctx, this)
}
