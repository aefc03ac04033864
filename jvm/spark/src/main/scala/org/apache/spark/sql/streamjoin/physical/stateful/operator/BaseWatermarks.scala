package org.apache.spark.sql.streamjoin.physical.stateful.operator

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.Watermarks

/**
 * Watermarks of the source columns before and after a batch, and the time at which each input last
 * had a row. Every partition computes the same values, and stores them beside its rows.
 */
private[physical] final case class BaseWatermarks(
    before: Array[Long],
    now: Array[Long],
    lastActiveMs: Array[Long]
) {

  def save(numbers: StoredNumbers): Unit =
    for (i <- now.indices) {
      if (now(i) != Watermarks.Unknown) numbers.put(BaseWatermarks.watermark(i), now(i))
      numbers.put(BaseWatermarks.active(i), lastActiveMs(i))
    }
}

private[streamjoin] object BaseWatermarks {

  /** The name of the watermark of source column `i`. */
  def watermark(i: Int): String = s"watermark.$i"

  /** The name of the time at which the input of source column `i` last had a row. */
  def active(i: Int): String = s"active.$i"

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
    val before = bases.indices.map(i => numbers.get(watermark(i)).getOrElse(Watermarks.Unknown))
    val arrived = bases.indices.map { i =>
      bases(i) match {
        case _: BaseColumn.Propagated => math.max(before(i), propagated(batch.propagated))
        case b: BaseColumn.Imposed if batch.arrivals(i) != Watermarks.Unknown =>
          math.max(before(i), Saturated.subtract(batch.arrivals(i), b.lag))
        case _ => before(i)
      }
    }
    val lastActive = bases.indices.map { i =>
      if (batch.arrivals(i) != Watermarks.Unknown) batch.batchTimeMs
      else numbers.get(active(i)).getOrElse(batch.batchTimeMs)
    }
    val idle = bases.indices.map(i => isIdle(bases(i), lastActive(i), batch.batchTimeMs))
    val now = bases.indices.map { i =>
      if (idle(i)) follow(i, rivals.getOrElse(i, Set.empty), bases, arrived, idle) else arrived(i)
    }
    BaseWatermarks(before.toArray, now.toArray, lastActive.toArray)
  }

  /**
   * Whether an input counts as idle now, but did not at the time of a batch.
   *
   * @param lastActiveMs the time at which each source last had a row, or `Watermarks.Unknown`
   */
  def turnsIdle(
      bases: Seq[BaseColumn],
      lastActiveMs: Array[Long],
      batchTimeMs: Option[Long],
      nowMs: Long
  ): Boolean = bases.indices.exists { i =>
    lastActiveMs(i) != Watermarks.Unknown && isIdle(bases(i), lastActiveMs(i), nowMs) &&
    !batchTimeMs.exists(isIdle(bases(i), lastActiveMs(i), _))
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
