package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode
import org.apache.spark.sql.streamjoin.logical.times.{HasTimeColumns, TimeColumns}

/** A logical node with the columns of its child. */
private[streamjoin] trait PassesColumns extends UnaryNode {

  override def output: Seq[Attribute] = child.output
}

/** A logical node with the columns of its child, and with their event times. */
private[streamjoin] trait PassesTimes extends PassesColumns with HasTimeColumns {

  override def timeColumns: TimeColumns = TimeColumns.of(child)
}
