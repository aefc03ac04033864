package org.apache.spark.sql.streamjoin.logical.plan

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Cast, Expression}

/** A column of a projection that passes an input column through, possibly renamed. */
private[streamjoin] object PassedColumn {

  /** The input column. It ignores a cast to the same type, as views contain it. */
  @tailrec
  def of(e: Expression): Option[Attribute] = e match {
    case a: Attribute                              => Some(a)
    case Alias(child, _)                           => of(child)
    case c: Cast if c.child.dataType == c.dataType => of(c.child)
    case _                                         => None
  }
}
