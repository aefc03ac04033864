package io.streamjoin.watermark

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.Watermarks

/**
 * Watermark of a source column whose rows are in groups, for example one for each partition of a
 * topic. It is the least of the watermarks of the groups, and never decreases. The rows of a column
 * without groups are one group.
 *
 * A group starts at the watermark of the column. A group without a row for the idle timeout does
 * not hold the watermark back, and starts again when it has a row.
 *
 * Example, with a lag of 1 minute and an idle timeout of 10 minutes:
 *
 * {{{
 *   batch   rows                 groups after the batch         column
 *   14:00   p0 12:10, p1 12:03   p0 12:09, p1 12:02             12:02
 *   14:08   p0 12:40, p2 11:50   p0 12:39, p1 12:02, p2 12:02   12:02   p2 is new, its row is late
 *   14:09   p2 12:30             p0 12:39, p1 12:02, p2 12:29   12:02
 *   14:10                        p0 12:39, p2 12:29             12:29   p1 is idle, and forgotten
 * }}}
 *
 * Rule R1 of `docs/internals/rules.md`. Source: Flink's watermarks for each split of a source.
 *
 * @param column the watermark of the column
 * @param groups the groups by name
 */
final case class GroupedWatermark(column: Long, groups: Map[String, GroupedWatermark.Group]) {
  import GroupedWatermark._

  /**
   * The groups that hold the watermark of the column back, the slowest first. One without a row so
   * far is the slowest.
   *
   * @param nowMs the time of the batch; none if no batch has run
   */
  def slowest(idleTimeoutMs: Option[Long], nowMs: Option[Long]): Seq[(String, Group)] =
    groups.toSeq
      .filterNot { case (_, g) => nowMs.exists(g.isIdle(idleTimeoutMs, _)) }
      .sortBy { case (name, g) => (g.watermark, name) }

  /**
   * The watermarks at the end of a batch.
   *
   * @param arrived the largest time of each group in the batch, or `Watermarks.Unknown` for a group
   *   of which the source is known to have rows, but that has none in this batch
   * @param nowMs the time of the batch
   */
  def next(
      arrived: Map[String, Long],
      lag: Long,
      idleTimeoutMs: Option[Long],
      nowMs: Long
  ): GroupedWatermark = {
    val seen = arrived.foldLeft(groups) { case (all, (name, latest)) =>
      val before = all.getOrElse(name, Group(Watermarks.Unknown, nowMs))
      val now =
        if (latest == Watermarks.Unknown) before
        else {
          val own = math.max(before.watermark, Saturated.subtract(latest, lag))
          Group(math.max(column, own), nowMs)
        }
      if (now == before && all.contains(name)) all else all.updated(name, now)
    }
    val (idle, active) =
      if (idleTimeoutMs.isEmpty) (Map.empty[String, Group], seen)
      else seen.partition(_._2.isIdle(idleTimeoutMs, nowMs))
    val least = active.valuesIterator.map(_.watermark).minOption
    // a group that the source lists in each batch with rows must not start again without a row
    val remembered = idle.view.filterKeys(arrived.isEmpty || arrived.contains(_))
    GroupedWatermark(
      least.fold(column)(math.max(column, _)),
      active ++ remembered.mapValues(_.copy(Watermarks.Unknown))
    )
  }
}

object GroupedWatermark {

  /**
   * @param watermark the watermark of the group; unknown until its first row
   * @param activeMs the time of the batch in which it had its last row, or in which it appeared
   */
  final case class Group(watermark: Long, activeMs: Long) {

    def isIdle(timeoutMs: Option[Long], nowMs: Long): Boolean =
      timeoutMs.exists(nowMs - activeMs >= _)
  }
}
