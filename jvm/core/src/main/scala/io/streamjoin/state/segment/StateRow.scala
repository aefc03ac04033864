package io.streamjoin.state.segment

import io.streamjoin.state.BufferedRow

/** A buffered row with all that was appended with it. */
trait StateRow[R] extends BufferedRow[R] {

  /** The watermark above which it goes. */
  def limit(k: Int): Long
}
