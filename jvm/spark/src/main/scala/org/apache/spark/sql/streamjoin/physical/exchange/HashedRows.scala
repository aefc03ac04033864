package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.sql.catalyst.InternalRow

/** Rows with the hash by which they are sorted, so that a reader need not compute it again. */
private[physical] trait HashedRows extends Iterator[InternalRow] {

  /** The hash of the last row. */
  def hash: Long
}
