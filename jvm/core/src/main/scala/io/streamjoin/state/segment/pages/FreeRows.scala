package io.streamjoin.state.segment.pages

import java.util.Arrays
import java.util.function.IntConsumer

/**
 * Numbers of deleted rows that can be reused. The numbers that were taken since the last
 * version are known, and a rollback returns them.
 *
 * Numbers that became free together are taken in ascending order. Rows that arrive one after
 * another are then adjacent in memory, where they are written, numbered and read for the
 * checkpoint.
 */
private[segment] final class FreeRows {
  private var numbers = Array.emptyIntArray
  private var count = 0
  private var sealedCount = 0

  /** Rows that were freed from here on are still in their chains. */
  private var linkedFrom = 0

  /** The length of the front part that is in the order of taking, the next one at its end. */
  private var ordered = 0

  def nonEmpty: Boolean = count > 0

  def length: Int = count

  /** The count of numbers taken since the last version was sealed. */
  def taken: Int = sealedCount - count

  /** Takes the least of the numbers that became free last. */
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

  /** The n-th number that was taken since the last version was sealed. */
  def taken(n: Int): Int = numbers(sealedCount - 1 - n)

  /** Adds a number, while none is taken. */
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

  /** Bytes in memory. */
  def allocated: Long = numbers.length * 4L
}
