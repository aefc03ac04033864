package org.apache.spark.sql.streamjoin.physical.stateful.shown

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.LeafExecNode

/**
 * Text of `explain` about an operator.
 *
 * @param summary the rest of the line of the node
 * @param lines the lines below the node
 */
private[streamjoin] final case class Explanation(summary: String, lines: Seq[String])

/** Plan node for a line of text below an operator in EXPLAIN. It is never executed. */
private[physical] case class ExplainedLine(text: String) extends LeafExecNode {
  override def nodeName: String = "Explained"
  override def output: Seq[Attribute] = Nil
  override def simpleString(maxFields: Int): String = text
  override def verboseString(maxFields: Int): String = text
  override def simpleStringWithNodeId(): String = text
  override def verboseStringWithOperatorId(): String = s"$formattedNodeName\n$text\n"
  override protected def doExecute(): RDD[InternalRow] =
    throw new UnsupportedOperationException("a line of explain cannot be run")
}
