package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.streamjoin.checkpoint.{JoinDescription, StoredBound, StoredTime}

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.{BySide, Side, Watermarks}

/**
 * From when on the results of a join are complete, if rows left its state that the changed join
 * still needs.
 *
 * {{{
 *   before   d.t <= o.t + 1 hour     W(d.t) = 12:00 has evicted the orders before 11:00
 *   now      d.t <= o.t + 3 hours    the orders before 09:00 are not needed
 *            complete for deliveries from 14:00 on: none of them matches an order before 11:00
 * }}}
 *
 * If a row left when `W(b)` was `E`, some time `a` of it is below `E - slack`. It cannot match once
 * `W(b)` has passed `E` plus the difference of the slacks.
 */
private[evolve] object Completeness {

  /**
   * @param known the same of the stored join, by column, see [[StoredCompleteness]]
   * @param evicted the watermarks of the last eviction, by side of the stored join and limit
   * @param evicting the watermarks that evict rows of the changed join
   * @return the times of the changed join with the watermarks that they must pass; `Long.MaxValue`
   *   if no watermark tells
   */
  def of(
      before: JoinDescription,
      from: BySide[Side],
      known: Map[Int, Long],
      evicted: BySide[Seq[Long]],
      now: JoinDescription,
      evicting: BySide[Seq[Long]],
      renamed: String => String
  ): Seq[(StoredTime, Long)] = {
    val to = (old: Side) => if (from.left == old) Side.Left else Side.Right
    def translated(name: String) = Side.both.collectFirst {
      case old if name.startsWith(s"${old.name}.") =>
        s"${to(old).name}.${renamed(name.stripPrefix(s"${old.name}."))}"
    }.getOrElse(name)
    val was = slacks(before).map { case ((a, b), slack) => (translated(a), translated(b)) -> slack }
    val is = slacks(now)
    val found = for {
      side <- Side.both
      (time, k) <- now.times.limits(side).zipWithIndex
      old = before.times.limits(from(side)).indexWhere(t => translated(t.name) == time.name)
      last <- evicted(from(side)).lift(old) if last != Watermarks.Unknown
      wider = for {
        ((a, b), slack) <- was.toSeq if b == time.name && a.startsWith(side.name)
        now = is.getOrElse((a, b), Long.MaxValue) if now > slack
      } yield if (now == Long.MaxValue) now else Saturated.add(last, Saturated.subtract(now, slack))
      passed <- wider.maxOption if passed > evicting(side)(k)
    } yield time -> passed
    val still = for {
      (column, watermark) <- known.toSeq
      (before, _) <- before.times.said.lift(column)
      (time, _) <- now.times.said.find(_._1.name == translated(before.name))
    } yield time -> watermark
    (found ++ still).groupMapReduce(_._1)(_._2)(math.max).toSeq.sortBy(_._1.name)
  }

  /** The slack of each pair of a later and an earlier time. */
  private def slacks(of: JoinDescription): Map[(String, String), Long] =
    of.times.bounds.flatMap(StoredBound.read(_, of.times.said)).map {
      case ((later, _), (earlier, _), slack) => (later.name, earlier.name) -> slack
    }.toMap
}
