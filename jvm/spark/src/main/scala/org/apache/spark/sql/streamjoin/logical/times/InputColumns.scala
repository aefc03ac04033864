package org.apache.spark.sql.streamjoin.logical.times

import org.apache.spark.sql.catalyst.expressions._

/**
 * Rewrites a condition on the output of a join to the columns of its inputs. A column of the output
 * may have lost Spark's watermark metadata, which Spark's own rules require.
 */
private[logical] object InputColumns {

  def in(condition: Expression, columns: Seq[Attribute]): Expression = {
    val own = columns.map(a => a.exprId -> a).toMap
    condition.transform { case a: Attribute => own.getOrElse(a.exprId, a) }
  }
}
