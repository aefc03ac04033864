package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.sql.catalyst.InternalRow

/** Rows that come with the number by which they are sorted: whoever needs it has it. */
private[physical] trait HashedRows extends Iterator[InternalRow] {

  /** That of the row that came last. */
  def hash: Long
}
