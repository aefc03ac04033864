package io.streamjoin.state.segment

import io.streamjoin.state.BufferedRow

/** A buffered row with its limits. */
trait StateRow[R] extends BufferedRow[R] {

  /** The row is evicted when the watermark is above this. */
  def limit(k: Int): Long
}
