package io.streamjoin.join.changelog

import io.streamjoin.model.Side

/** Delta of one join key and side: the deleted and the inserted rows, with their partners. */
private[changelog] final class KeyDelta[R](val side: Side) {
  val removed: ChangeBuffer[R] = new ChangeBuffer[R]
  val added: ChangeBuffer[R] = new ChangeBuffer[R]

  /** Deleted rows that are not stored, but may have expired by `state_ttl`. */
  val expired: ChangeBuffer[R] = new ChangeBuffer[R]

  /** Rows that were written again without a change, if these are reported. */
  val written: ChangeBuffer[R] = new ChangeBuffer[R]

  /** Whether all partners have been counted. */
  var counted: Boolean = true

  private var suffices = false

  def isEmpty: Boolean = removed.isEmpty && added.isEmpty && expired.isEmpty

  /** @param suffices whether one partner is enough */
  def begin(suffices: Boolean): Unit = {
    this.suffices = suffices
    counted = true
  }

  /** Whether more partners would change nothing. */
  def settled: Boolean = suffices && haveSome(removed) && haveSome(added) && haveSome(expired)

  private def haveSome(rows: ChangeBuffer[R]): Boolean = {
    var i = 0
    while (i < rows.length && rows.partners(i) > 0) i += 1
    i == rows.length
  }

  def clear(): Unit = {
    removed.clear()
    added.clear()
    expired.clear()
    written.clear()
  }
}
