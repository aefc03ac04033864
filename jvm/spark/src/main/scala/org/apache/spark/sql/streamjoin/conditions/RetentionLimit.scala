package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions.{Expression, TaggingExpression}

/**
 * Marks a part of a condition that follows from the `retention` option. The user did not write it.
 */
case class RetentionLimit(child: Expression) extends TaggingExpression {

  override def sql: String = child.sql

  override def toString: String = child.toString

  override protected def withNewChildInternal(newChild: Expression): RetentionLimit =
    copy(child = newChild)
}
