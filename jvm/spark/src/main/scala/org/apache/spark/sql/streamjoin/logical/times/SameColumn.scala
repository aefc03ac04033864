package org.apache.spark.sql.streamjoin.logical.times

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  Cast,
  Expression,
  TaggingExpression
}

/**
 * Matches a column, also with an alias, a mark, or a cast to its own type, as in the columns of a
 * view.
 */
private[streamjoin] object SameColumn {
  def unapply(e: Expression): Option[Attribute] = e match {
    case a: Attribute                                  => Some(a)
    case Alias(child, _)                               => unapply(child)
    case Cast(child, to, _, _) if child.dataType == to => unapply(child)
    case t: TaggingExpression                          => unapply(t.child)
    case _                                             => None
  }
}
