package io.streamjoin.join.changelog

import io.streamjoin.model.Side

/**
 * What the changes of one join key come to, of one side: the rows that go and those that come. A row that goes
 * is marked if a partner of it has expired.
 */
private[changelog] final class KeyDelta[R](val side: Side) {
  val removed: ChangeBuffer[R] = new ChangeBuffer[R]
  val added: ChangeBuffer[R] = new ChangeBuffer[R]

  /** Expired rows that are removed now: the images of the removals. */
  val expired: ChangeBuffer[R] = new ChangeBuffer[R]

  /** Rows that stay as they are and have been written again, where that is told. */
  val written: ChangeBuffer[R] = new ChangeBuffer[R]

  /** How many partners the rows had that go: a mark stands for one that has left. */
  var had: Array[Int] = Array.emptyIntArray

  /** How many the expired ones had. */
  var hadExpired: Array[Int] = Array.emptyIntArray

  /** How many those have that come. */
  var has: Array[Int] = Array.emptyIntArray

  /** Whether all of them have been counted. */
  var counted: Boolean = true

  private var suffices = false

  def isEmpty: Boolean = removed.isEmpty && added.isEmpty && expired.isEmpty

  /** @param suffices whether one partner is as good as many */
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

  /** Whether there is nothing more to find out of them. */
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
