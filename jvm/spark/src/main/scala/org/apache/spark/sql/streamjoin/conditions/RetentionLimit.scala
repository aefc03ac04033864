package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions.{Expression, TaggingExpression}

/** Marks a part of a condition that the person did not write: it comes from the retention asked for. */
case class RetentionLimit(child: Expression) extends TaggingExpression {

  override def sql: String = child.sql

  override def toString: String = child.toString

  override protected def withNewChildInternal(newChild: Expression): RetentionLimit =
    copy(child = newChild)
}
