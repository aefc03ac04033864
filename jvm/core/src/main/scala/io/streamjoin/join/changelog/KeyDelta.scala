package io.streamjoin.join.changelog

import io.streamjoin.model.Side

/**
 * Delta of one join key and side: the deleted and the inserted rows. A deleted row is marked if
 * a partner of it has expired.
 */
private[changelog] final class KeyDelta[R](val side: Side) {
  val removed: ChangeBuffer[R] = new ChangeBuffer[R]
  val added: ChangeBuffer[R] = new ChangeBuffer[R]

  /** Expired rows that are deleted now, as the deletes show them. */
  val expired: ChangeBuffer[R] = new ChangeBuffer[R]

  /** Rows that were written again without a change, if these are reported. */
  val written: ChangeBuffer[R] = new ChangeBuffer[R]

  /** The numbers of partners of the deleted rows; a mark counts as one that has left. */
  var had: Array[Int] = Array.emptyIntArray

  /** The numbers of partners of the expired rows. */
  var hadExpired: Array[Int] = Array.emptyIntArray

  /** The numbers of partners of the inserted rows. */
  var has: Array[Int] = Array.emptyIntArray

  /** Whether all partners have been counted. */
  var counted: Boolean = true

  private var suffices = false

  def isEmpty: Boolean = removed.isEmpty && added.isEmpty && expired.isEmpty

  /** @param suffices whether one partner is enough */
  def begin(suffices: Boolean): Unit = {
    this.suffices = suffices
    counted = true
    if (had.length < removed.length) had = new Array[Int](removed.length * 2)
    if (has.length < added.length) has = new Array[Int](added.length * 2)
    if (hadExpired.length < expired.length) hadExpired = new Array[Int](expired.length * 2)
    var i = 0
    while (i < removed.length) {
      had(i) = if (removed.isMarked(i)) 1 else 0
      i += 1
    }
    java.util.Arrays.fill(has, 0, added.length, 0)
    java.util.Arrays.fill(hadExpired, 0, expired.length, 0)
  }

  /** Whether more partners would change nothing. */
  def settled: Boolean = suffices && haveSome(had, removed.length) &&
    haveSome(has, added.length) && haveSome(hadExpired, expired.length)

  private def haveSome(partners: Array[Int], rows: Int): Boolean = {
    var i = 0
    while (i < rows && partners(i) > 0) i += 1
    i == rows
  }

  def clear(): Unit = {
    removed.clear()
    added.clear()
    expired.clear()
    written.clear()
  }
}

/**
 * Match-count transition: an unchanged row of which partners were inserted or deleted.
 *
 * @param won how many were inserted; else some were deleted
 * @param counted whether it is known that no partner is unchanged
 */
private[changelog] final class MatchTransition[R](
    val row: R,
    val won: Int,
    val counted: Boolean
) {

  /** The number of its unchanged partners. */
  var stay = 0
}
