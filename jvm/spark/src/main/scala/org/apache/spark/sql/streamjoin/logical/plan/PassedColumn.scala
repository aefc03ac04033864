package org.apache.spark.sql.streamjoin.logical.plan

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Cast, Expression}

/** A column of a projection that is one of the columns below, under whatever name. */
private[streamjoin] object PassedColumn {

  /** The column below. A view casts each of its columns to the type that it has. */
  @tailrec
  def of(e: Expression): Option[Attribute] = e match {
    case a: Attribute                              => Some(a)
    case Alias(child, _)                           => of(child)
    case c: Cast if c.child.dataType == c.dataType => of(c.child)
    case _                                         => None
  }
}
