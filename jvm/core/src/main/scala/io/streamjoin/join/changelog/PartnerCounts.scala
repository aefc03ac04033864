package io.streamjoin.join.changelog

import scala.collection.mutable

import io.streamjoin.model.{BySide, Side}

/**
 * How many partners rows have that come out alone otherwise, in the join keys in which it takes a long walk
 * to find that out: those of many rows of which a condition beyond the equality lets few match.
 *
 * All of it follows from the rows: nothing is written to a checkpoint, and whoever begins without it counts
 * again what is asked for. Rows that are equal in all that the condition sees of them have the same partners,
 * and one number. A row that is not in here has not been counted; a number of rows that are not held any more, or
 * have lost a partner by age, does no harm, for it is replaced when such a row comes.
 *
 * It belongs to one version of one partition's rows. Not thread-safe.
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
   * Notes that a row has other partners than before, in a join key that [[has]] counts.
   *
   * @param seen what the condition sees of it
   * @param lost how many partners have gone
   * @param won how many have come
   * @return how many of them stay; none where that has not been counted
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

  /** Of a row of which it is not known how many partners it has. */
  private[changelog] def forget(side: Side, key: Long, seen: AnyRef): Unit = {
    val counted = sides(side)
    if (counted.keys(key).remove(seen).nonEmpty) counted.size -= 1
  }

  /**
   * Ends the changes of a join key: begins anew where most numbers are of rows that have gone.
   *
   * @param held how many rows a side has
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

  /** So many numbers too many are no matter. */
  val Spare = 1024

  /** The numbers of one side, by join key and what the condition sees. */
  final class Counted {
    val keys: mutable.LongMap[mutable.HashMap[AnyRef, Partners]] = mutable.LongMap.empty
    var size: Long = 0L
  }

  /** @param step that in which it was changed last */
  final class Partners(var partners: Int, var step: Long)
}
