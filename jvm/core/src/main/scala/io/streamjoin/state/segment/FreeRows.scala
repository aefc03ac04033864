package io.streamjoin.state.segment

import java.util.Arrays
import java.util.function.IntConsumer

/**
 * The numbers of rows that have gone for good and that others may have. Those that were taken since
 * the last version are known, and come back when it is undone.
 *
 * Those that have become free together are taken in ascending order: rows that come one after another lie so in
 * memory, where they are written, numbered and read for the checkpoint.
 */
private[segment] final class FreeRows {
  private var numbers = Array.emptyIntArray
  private var count = 0
  private var sealedCount = 0

  /** Rows that were freed from here on are still in their chains. */
  private var linkedFrom = 0

  /** So many are in the order in which they are to be taken, the next one at the end. */
  private var ordered = 0

  def nonEmpty: Boolean = count > 0

  def length: Int = count

  /** How many were taken since the last version was sealed. */
  def taken: Int = sealedCount - count

  /** The least of those that have become free last. */
  def take(): Int = {
    if (ordered < count) order()
    count -= 1
    numbers(count)
  }

  private def order(): Unit = {
    Arrays.sort(numbers, ordered, count)
    var (first, last) = (ordered, count - 1)
    while (first < last) {
      val number = numbers(first)
      numbers(first) = numbers(last)
      numbers(last) = number
      first += 1
      last -= 1
    }
    ordered = count
  }

  /** The n-th that was taken since the last version was sealed. */
  def taken(n: Int): Int = numbers(sealedCount - 1 - n)

  /** To be called while none is taken. */
  def add(i: Int): Unit = {
    ordered = math.min(ordered, count)
    if (count == numbers.length) numbers = Arrays.copyOf(numbers, math.max(16, count * 2))
    numbers(count) = i
    count += 1
    sealedCount = count
  }

  /** Rows freed from now on stay in their chains, see [[foreachLinked]]. */
  def beginLinked(): Unit = linkedFrom = count

  /** The rows that were freed since [[beginLinked]]. */
  def foreachLinked(visit: IntConsumer): Unit =
    for (n <- linkedFrom until count) visit.accept(numbers(n))

  def seal(): Unit = sealedCount = count

  def rollback(): Unit = count = sealedCount

  def clear(): Unit = {
    numbers = Array.emptyIntArray
    count = 0
    sealedCount = 0
    ordered = 0
    linkedFrom = 0
  }

  /** Bytes held in memory. */
  def allocated: Long = numbers.length * 4L
}
