package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.expressions.{Descending, SortOrder}
import org.apache.spark.sql.streamjoin.ColumnNames

/** An order in terms of the analyzed columns. Not an expression, so that no rule rewrites it. */
final class ClaimedOrder(val order: Seq[SortOrder]) extends Serializable {

  /** The sort keys as SQL. */
  def words: Seq[String] = order.map { key =>
    ColumnNames.sql(key.child) + (if (key.direction == Descending) " DESC" else "")
  }
}
