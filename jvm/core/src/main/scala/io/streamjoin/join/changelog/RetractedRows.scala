package io.streamjoin.join.changelog

import scala.collection.mutable

/** Rows that expire with a batch and whose expiry is a delete, by join key. */
private[changelog] final class RetractedRows[R] {
  private val byKey = mutable.LongMap.empty[ChangeBuffer[R]]

  def keys: Iterable[Long] = byKey.keys

  def add(key: Long, row: R, marked: Boolean): Unit =
    byKey.getOrElseUpdate(key, new ChangeBuffer[R]).add(row, marked)

  /** Moves the rows of a key. */
  def moveTo(key: Long, removed: ChangeBuffer[R]): Unit =
    if (byKey.nonEmpty) byKey.remove(key).foreach { expired =>
      for (i <- 0 until expired.length) removed.add(expired(i), expired.isMarked(i))
    }
}
