package org.apache.spark.sql.streamjoin.logical.times

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

/**
 * A condition that was written for rows as they come out of a join, on rows as they go into it. A
 * column may have lost Spark's mark of a watermark on its way; where Spark looks for that mark it
 * must be as it was.
 */
private[logical] object InputColumns {

  def in(condition: Expression, columns: Seq[Attribute]): Expression = {
    val own = columns.map(a => a.exprId -> a).toMap
    condition.transform { case a: Attribute => own.getOrElse(a.exprId, a) }
  }
}
