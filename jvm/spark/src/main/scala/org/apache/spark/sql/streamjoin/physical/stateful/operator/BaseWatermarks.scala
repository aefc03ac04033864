package org.apache.spark.sql.streamjoin.physical.stateful.operator

import org.apache.spark.sql.streamjoin.checkpoint.{StoredGroups, StoredNumbers}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.sql.streamjoin.physical.stateful.times.GroupMaxima

import io.streamjoin.model.Watermarks
import io.streamjoin.watermark.GroupedWatermark

/**
 * Watermarks of the source columns before and after a batch, and the time at which each input last
 * had a row. Every partition computes the same values, and stores them beside its rows.
 *
 * @param grouped the same after the batch, with the groups of the columns that have groups
 */
private[physical] final case class BaseWatermarks(
    before: Array[Long],
    now: Array[Long],
    lastActiveMs: Array[Long],
    grouped: Seq[GroupedWatermark],
    private val stored: Seq[StoredGroups]
) {

  def save(numbers: StoredNumbers): Unit =
    for (i <- now.indices) {
      if (now(i) != Watermarks.Unknown) numbers.put(BaseWatermarks.watermark(i), now(i))
      numbers.put(BaseWatermarks.active(i), lastActiveMs(i))
      stored(i).save(grouped(i).groups)
    }
}

private[streamjoin] object BaseWatermarks {

  /** The name of the watermark of source column `i`. */
  def watermark(i: Int): String = s"watermark.$i"

  /** The name of the time at which the input of source column `i` last had a row. */
  def active(i: Int): String = s"active.$i"

  private val PartOf = raw"(watermark|active|groups|group)\.(\d+)(\..*)?".r

  /** Whether a number belongs to a source column. */
  def isPart(name: String): Boolean = PartOf.matches(name)

  /** The numbers of a source column, as those of another one. */
  def moved(numbers: Map[String, Long], from: Int, to: Int): Map[String, Long] =
    numbers.collect {
      case (PartOf(part, i, rest), number) if i == from.toString =>
        s"$part.$to${Option(rest).getOrElse("")}" -> number
    }

  /** The watermarks of the source columns before a batch. */
  def before(bases: Seq[BaseColumn], numbers: StoredNumbers): Array[Long] =
    bases.indices.map(i => numbers.get(watermark(i)).getOrElse(Watermarks.Unknown)).toArray

  /**
   * Computes the watermarks of a batch.
   *
   * @param bases the source columns, in the order in which they are stored
   * @param rivals for each source column, the ones whose watermark it may follow while its input is
   *   idle
   */
  def next(
      bases: Seq[BaseColumn],
      rivals: Map[Int, Set[Int]],
      batch: BatchArrivals,
      numbers: StoredNumbers
  ): BaseWatermarks = {
    val before = this.before(bases, numbers)
    val stored = bases.indices.map(i => StoredGroups.of(i, bases(i), numbers))
    val grouped = bases.indices.map { i =>
      val known = GroupedWatermark(before(i), stored(i).groups)
      bases(i) match {
        case _: BaseColumn.Propagated =>
          known.copy(math.max(before(i), propagated(batch.propagated)))
        case b: BaseColumn.Imposed =>
          val next = known.next(batch.arrivals(i), b.lag, b.idleTimeoutMs, batch.batchTimeMs)
          if (next.groups.size > batch.maxGroups)
            throw GroupMaxima.tooMany(b.name, next.groups.size, batch.maxGroups)
          next
      }
    }
    val arrived = grouped.map(_.column)
    val lastActive = bases.indices.map { i =>
      if (batch.arrivals(i).valuesIterator.exists(_ != Watermarks.Unknown)) batch.batchTimeMs
      else numbers.get(active(i)).getOrElse(batch.batchTimeMs)
    }
    val idle = bases.indices.map(i => isIdle(bases(i), lastActive(i), batch.batchTimeMs))
    val now = bases.indices.map { i =>
      if (idle(i)) follow(i, rivals.getOrElse(i, Set.empty), bases, arrived, idle) else arrived(i)
    }
    BaseWatermarks(before, now.toArray, lastActive.toArray, grouped, stored)
  }

  /**
   * Whether an input, or a group of its rows, counts as idle now, but did not at the time of a
   * batch.
   *
   * @param lastActiveMs the time at which each source last had a row, or `Watermarks.Unknown`
   * @param groups the groups of the source columns that have groups
   */
  def turnsIdle(
      bases: Seq[BaseColumn],
      lastActiveMs: Array[Long],
      groups: Map[Int, GroupedWatermark],
      batchTimeMs: Option[Long],
      nowMs: Long
  ): Boolean = bases.indices.exists { i =>
    val ofGroups = groups.get(i).iterator.flatMap(_.groups.valuesIterator).map(_.activeMs)
    (Iterator(lastActiveMs(i)).filter(_ != Watermarks.Unknown) ++ ofGroups).exists { active =>
      isIdle(bases(i), active, nowMs) && !batchTimeMs.exists(isIdle(bases(i), active, _))
    }
  }

  private def isIdle(base: BaseColumn, lastActiveMs: Long, nowMs: Long): Boolean = base match {
    case b: BaseColumn.Imposed => b.idleTimeoutMs.exists(nowMs - lastActiveMs >= _)
    case _                     => false
  }

  /**
   * The watermark of an idle input: it follows the slowest rival that is not idle and has the same
   * time unit.
   */
  private def follow(
      i: Int,
      rivals: Set[Int],
      bases: Seq[BaseColumn],
      arrived: Seq[Long],
      idle: Seq[Boolean]
  ): Long =
    rivals.toSeq
      .filter(j => !idle(j) && bases(j).unit == bases(i).unit)
      .map(arrived)
      .minOption
      .fold(arrived(i))(math.max(_, arrived(i)))

  /** Converts Spark's watermark, in milliseconds. Spark's value for an unknown watermark is 0. */
  private def propagated(ms: Option[Long]): Long =
    ms.filter(_ > 0).fold(Watermarks.Unknown)(_ * 1000L)
}
