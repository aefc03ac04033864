package io.streamjoin.state

/**
 * A row that waits for partners, as a probe or an eviction shows it. It may be one object that shows
 * one row after another: what is read of it counts until the next is asked for.
 */
trait BufferedRow[R] {

  /** The row itself. */
  def row: R

  /** The hash of its equality key. */
  def key: Long

  /** The time by which it is looked up. */
  def time: Long

  /** Whether it has been joined. */
  def matched: Boolean
}
