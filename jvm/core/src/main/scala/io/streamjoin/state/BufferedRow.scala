package io.streamjoin.state

/**
 * A buffered row, as a probe or an eviction returns it. One object may be reused for one row
 * after another: its values are valid until the next row is requested.
 */
trait BufferedRow[R] {

  /** The row itself. */
  def row: R

  /** The hash of its equality key. */
  def key: Long

  /** The time by which a probe finds it. */
  def time: Long

  /** Whether it has been joined. */
  def matched: Boolean
}
