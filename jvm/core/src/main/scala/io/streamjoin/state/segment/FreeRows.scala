package io.streamjoin.state.segment

import java.util.Arrays

/**
 * The numbers of rows that have gone for good and that others may have. Those that were taken since
 * the last version are known, and come back when it is undone.
 */
private[segment] final class FreeRows {
  private var numbers = Array.emptyIntArray
  private var count = 0
  private var sealedCount = 0

  def nonEmpty: Boolean = count > 0

  def length: Int = count

  /** How many were taken since the last version was sealed. */
  def taken: Int = sealedCount - count

  /** The last of those that are free. */
  def take(): Int = {
    count -= 1
    numbers(count)
  }

  /** The n-th that was taken since the last version was sealed. */
  def taken(n: Int): Int = numbers(sealedCount - 1 - n)

  /** To be called while none is taken. */
  def add(i: Int): Unit = {
    if (count == numbers.length) numbers = Arrays.copyOf(numbers, math.max(16, count * 2))
    numbers(count) = i
    count += 1
    sealedCount = count
  }

  def seal(): Unit = sealedCount = count

  def rollback(): Unit = count = sealedCount

  def clear(): Unit = {
    numbers = Array.emptyIntArray
    count = 0
    sealedCount = 0
  }

  /** Bytes held in memory. */
  def allocated: Long = numbers.length * 4L
}
