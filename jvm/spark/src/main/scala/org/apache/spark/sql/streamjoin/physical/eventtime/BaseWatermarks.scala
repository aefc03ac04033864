package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.sql.streamjoin.physical.stateful.Arrival

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.Watermarks

/**
 * What the driver tells the tasks of one batch about the source columns.
 *
 * @param arrivals for each source column, the largest value the batch brought; for a column of one of
 *   Spark's own operators, nothing
 * @param propagated Spark's watermark for the join's input at the end of the batch
 * @param batchTimeMs when the batch began, as recorded in the offset log
 */
private[physical] final case class BatchArrivals(
    arrivals: Seq[Arrival],
    propagated: Option[Long],
    batchTimeMs: Long
)

/**
 * The watermarks of the source columns, before and after a batch, and when each input last brought a
 * row. Every partition computes the same from the same; each keeps them beside its rows.
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

private[physical] object BaseWatermarks {

  private def watermark(i: Int): String = s"watermark.$i"

  private def active(i: Int): String = s"active.$i"

  def next(spec: StreamJoinSpec, batch: BatchArrivals, numbers: StoredNumbers): BaseWatermarks = {
    val bases = spec.bases
    val rivals = spec.watermarks.rivals
    val before = bases.indices.map(i => numbers.get(watermark(i)).getOrElse(Watermarks.Unknown))
    val arrived = bases.indices.map { i =>
      bases(i) match {
        case _: BaseColumn.Propagated => math.max(before(i), propagated(batch.propagated))
        case b: BaseColumn.Imposed if batch.arrivals(i).largest != Watermarks.Unknown =>
          math.max(before(i), Saturated.subtract(batch.arrivals(i).largest, b.lag))
        case _ => before(i)
      }
    }
    val lastActive = bases.indices.map { i =>
      if (batch.arrivals(i).largest != Watermarks.Unknown) batch.batchTimeMs
      else numbers.get(active(i)).getOrElse(batch.batchTimeMs)
    }
    val idle = bases.indices.map(i => isIdle(bases(i), lastActive(i), batch.batchTimeMs))
    BaseWatermarks(
      before.toArray,
      bases.indices.map(i =>
        if (idle(i)) follow(i, rivals.getOrElse(i, Set.empty), bases, arrived, idle) else arrived(i)
      ).toArray,
      lastActive.toArray
    )
  }

  def isIdle(base: BaseColumn, lastActiveMs: Long, nowMs: Long): Boolean = base match {
    case b: BaseColumn.Imposed => b.idleTimeoutMs.exists(nowMs - lastActiveMs >= _)
    case _                     => false
  }

  /** An idle input goes with the slowest rival that is not idle and has times of the same family. */
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

  /** Spark gives milliseconds, and 0 while it knows nothing. */
  private def propagated(ms: Option[Long]): Long =
    ms.filter(_ > 0).fold(Watermarks.Unknown)(_ * 1000L)
}
