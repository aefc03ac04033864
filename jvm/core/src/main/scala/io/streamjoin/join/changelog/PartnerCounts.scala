package io.streamjoin.join.changelog

import scala.collection.mutable

import io.streamjoin.model.{BySide, Side}

/**
 * Cache of the numbers of partners of rows that may be emitted alone. It is for join keys in
 * which counting needs a long walk: keys with many rows, of which a condition beyond the
 * equality lets few match.
 *
 * All of it follows from the rows. Nothing is written to a checkpoint, and an empty cache only
 * costs the walks again. Rows that are equal in the columns of the condition have equal
 * partners, and share one count. A row that is not in the cache has not been counted. The number of
 * a row that is not stored any more is harmless: it is replaced when such a row arrives.
 *
 * It belongs to one version of the rows of one partition. Not thread-safe.
 */
final class PartnerCounts {
  import PartnerCounts._

  private val sides = BySide.of(_ => new Counted)
  private var step = 0L

  def isEmpty: Boolean = !Side.both.exists(has(_))

  /** Begins the changes of one join key, in which each number changes once. */
  private[changelog] def begin(): Unit = step += 1

  /** Whether rows of a side and a join key are counted. */
  private[changelog] def has(side: Side, key: Long): Boolean =
    has(side) && sides(side).keys.contains(key)

  /** Whether rows of a side are counted in some join key. */
  private[changelog] def has(side: Side): Boolean = sides(side).keys.nonEmpty

  /**
   * Changes the number of a row in a join key that [[has]] counts.
   *
   * @param seen the columns of the condition
   * @param lost how many partners were deleted
   * @param won how many were inserted
   * @return how many of them are unchanged; none if that has not been counted
   */
  private[changelog] def change(
      side: Side,
      key: Long,
      seen: AnyRef,
      lost: Int,
      won: Int
  ): Option[Int] =
    sides(side).keys(key).get(seen).map { one =>
      if (one.step != step) {
        one.partners += won - lost
        one.step = step
      }
      one.partners - won
    }

  private[changelog] def put(side: Side, key: Long, seen: AnyRef, partners: Int): Unit = {
    val counted = sides(side)
    val before = counted.keys
      .getOrElseUpdate(key, mutable.HashMap.empty)
      .put(seen, new Partners(partners, step))
    if (before.isEmpty) counted.size += 1
  }

  /** Removes a row with an unknown number of partners. */
  private[changelog] def forget(side: Side, key: Long, seen: AnyRef): Unit = {
    val counted = sides(side)
    if (counted.keys(key).remove(seen).nonEmpty) counted.size -= 1
  }

  /** Removes the rows of a join key, of which some partners have expired. */
  private[changelog] def forget(side: Side, key: Long): Unit = {
    val counted = sides(side)
    counted.keys.remove(key).foreach(rows => counted.size -= rows.size)
  }

  /**
   * Ends the changes of a join key: clears the cache if most numbers are of rows that were
   * deleted.
   *
   * @param stored how many rows a side has
   */
  private[changelog] def end(stored: Side => Long): Unit = Side.both.foreach { side =>
    val counted = sides(side)
    if (counted.size > Spare && counted.size > 2 * stored(side)) {
      counted.keys.clear()
      counted.size = 0
    }
  }
}

private object PartnerCounts {

  /** The number of superfluous entries that is harmless. */
  val Spare = 1024

  /** The numbers of one side, by join key and columns of the condition. */
  final class Counted {
    val keys: mutable.LongMap[mutable.HashMap[AnyRef, Partners]] = mutable.LongMap.empty
    var size: Long = 0L
  }

  /** @param step that in which it was changed last */
  final class Partners(var partners: Int, var step: Long)
}
