package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Descending, SortOrder}
import org.apache.spark.sql.streamjoin.ColumnNames

/**
 * An order by columns of the analysis.
 *
 * Not an expression, so that no rule changes it.
 */
final class ClaimedOrder(val order: Seq[SortOrder]) extends Serializable {

  /** Its keys, as a query has them. */
  def words: Seq[String] = order.map { key =>
    ColumnNames.sql(key.child) + (if (key.direction == Descending) " DESC" else "")
  }
}
