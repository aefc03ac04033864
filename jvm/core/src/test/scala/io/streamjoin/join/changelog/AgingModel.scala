package io.streamjoin.join.changelog

import scala.collection.mutable

import io.streamjoin.model.{JoinType, Side}

/**
 * Model of the rules for rows that expire, without optimizations: two lists of rows, and the join
 * of them before and after each batch. `docs/concepts/changelog-state.md` has the rules, under "Age"
 * and "Deletes of expired rows".
 *
 * A delete of a row that is not stored counts as the delete of one that was stored before the batch, as in Flink.
 */
private[changelog] final class AgingModel(join: TestChangelog) {
  import AgingModel._

  private val stored = Side.both.map(_ -> mutable.ArrayBuffer.empty[Stored]).toMap

  /** Deletes of rows that have expired, in the current batch. */
  private val retractedRows = Side.both.map(_ -> mutable.ArrayBuffer.empty[Stored]).toMap

  /**
   * Rows that expired, deletes of rows that are not stored and of expired rows, and changes older than the stored row,
   * since the beginning.
   */
  val expired, unknown, retracted, stale: mutable.Map[Side, Long] =
    mutable.Map.empty[Side, Long].withDefaultValue(0L)

  def size(side: Side): Int = stored(side).length

  /** A row expires after the end of its TTL, and its partners are marked. Nothing is emitted. */
  def at(now: Long): Unit = for (side <- Side.both) {
    val (leaving, stay) = stored(side).toSeq.partition(_.row.expires < now)
    stored(side).clear()
    stored(side) ++= stay
    expired(side) += leaving.length
    for (g <- leaving; partner <- stored(side.other) if pairs(side, g.row, partner.row))
      partner.lost = true
  }

  /** The changes of the result in a batch: the inserts of each row minus its deletes. */
  def batch(changes: Map[Side, Seq[Change[Row]]]): Map[Out, Int] = {
    val before = stored.map { case (side, rows) => side -> rows.toSeq }
    // copied, since the marks change
    def lost(some: Map[Side, Seq[Stored]]) = some.values.flatten.filter(_.lost).toSet
    val lostBefore = lost(before)
    retractedRows.values.foreach(_.clear())
    for (side <- Side.both)
      changes(side).groupBy(c => identityOf(side, c.row)).values.foreach { of =>
        if (join(side).keyed) keyed(side, of) else counted(side, of)
      }
    val was =
      result(before.map { case (side, rows) => side -> (rows ++ retractedRows(side)) }, lostBefore)
    for (side <- Side.both if join(side).settlesExpired) settle(side, before(side))
    val after = stored.map { case (side, rows) => side -> rows.toSeq }
    difference(result(after, lost(after)), was)
  }

  /** For a side with one row of a join key: a change of the row deletes or replaces the expired one. */
  private def settle(side: Side, before: Seq[Stored]): Unit = {
    val (was, is) = (before.map(h => bare(h.row)), stored(side).toSeq.map(h => bare(h.row)))
    val changed = was.diff(is) ++ is.diff(was) ++ retractedRows(side).map(_.row)
    for (partner <- stored(side.other) if changed.exists(pairs(side, _, partner.row)))
      partner.lost = false
  }

  /** Whether a delete of a row that is not stored is the delete of an expired row that may have results. */
  private def isRetraction(side: Side, row: Row): Boolean = join(side).mayHaveExpired(row) &&
    (join.joinType.preserves(side) || join(side).joinable(row))

  private def identityOf(side: Side, row: Row): Any = join.layout(side) match {
    case Layout.OneAKey   => row.join
    case Layout.UniqueKey => (row.join, row.unique)
    case Layout.NoKey     => bare(row)
  }

  private def pairs(side: Side, row: Row, other: Row): Boolean =
    if (side == Side.Left) join.matches(row, other) else join.matches(other, row)

  /** A row that can match nothing and is never emitted alone is not stored if it has no sequence. */
  private def stores(side: Side, row: Row): Boolean =
    join.joinType.preserves(side) || join(side).keyed || join(side).joinable(row)

  /** The last change by sequence counts; of one sequence, equal rows of both kinds cancel. */
  private def keyed(side: Side, changes: Seq[Change[Row]]): Unit = {
    val rows = stored(side)
    val before = rows.find(h => identityOf(side, h.row) == identityOf(side, changes.head.row))
    val (old, fresh) = changes.partition(c => before.exists(c.row.sequence < _.row.sequence))
    stale(side) += old.length
    if (fresh.nonEmpty) {
      val was = before.filterNot(_.row.deleted).map(_.row)
      val steps = fresh.groupBy(_.row.sequence).toSeq.sortBy(_._1).map(_._2)
      val after = steps.foldLeft(was) { (there, step) =>
        val (inserts, deletes) = step.partition(_.added)
        val left = inserts.map(_.row).find(r => !deletes.exists(g => bare(g.row) == bare(r)))
        val void = deletes.forall(g => inserts.exists(c => bare(c.row) == bare(g.row)))
        if (left.nonEmpty) left
        else if (!void) None
        // a change without an effect is a write of the row nevertheless
        else there.map(t => inserts.map(_.row).find(bare(_) == bare(t)).getOrElse(t))
      }
      // a key with nothing but changes without an effect can have an expired row
      val open = before.forall(b => b.row.deleted && b.lost)
      val removed = firstRemoved(steps).filter(row => open && isRetraction(side, row))
      val stayOpen = open && removed.isEmpty && consolidated(steps.last) == (Nil -> Nil)
      rows --= before
      after match {
        case Some(row) =>
          val stays = was.exists(bare(_) == bare(row))
          rows += new Stored(row, stays && before.get.lost)
        case None =>
          // a deleted row leaves a tombstone if it would expire itself
          val last =
            fresh.filterNot(_.added).maxByOption(_.row.sequence).map(_.row.copy(deleted = true))
          rows ++= last.filter(
            _.expires != Long.MaxValue
          ).orElse(before.map(_.row).filter(_.deleted))
            .map(new Stored(_, lost = stayOpen))
      }
      retractedRows(side) ++= removed.map(new Stored(_, lost = false))
      retracted(side) += removed.size
      if (removed.isEmpty && was.isEmpty && !fresh.exists(_.added)) unknown(side) += fresh.length
    }
  }

  /** The deletes and inserts of one sequence, without equal ones. */
  private def consolidated(step: Seq[Change[Row]]): (Seq[Row], Seq[Row]) = {
    val (inserts, deletes) = step.partition(_.added)
    def isIn(some: Seq[Change[Row]])(c: Change[Row]) = some.exists(s => bare(s.row) == bare(c.row))
    (deletes.filterNot(isIn(inserts)).map(_.row), inserts.filterNot(isIn(deletes)).map(_.row))
  }

  /** The row before the changes, from the first changes that have an effect. */
  private def firstRemoved(steps: Seq[Seq[Change[Row]]]): Option[Row] =
    steps.map(consolidated).find(_ != (Nil -> Nil)).flatMap(_._1.maxByOption(bare(_).toString))

  /**
   * A delete removes the equal row that expires first, and among those one without an expired
   * partner.
   */
  private def counted(side: Side, changes: Seq[Change[Row]]): Unit = {
    val (inserts, deletes) = changes.partition(_.added)
    if (stores(side, changes.head.row)) {
      val rows = stored(side)
      val like = bare(changes.head.row)
      val taken = rows.toSeq.filter(h => bare(h.row) == like).sortBy(h => (h.row.expires, h.lost))
        .take(deletes.length)
      rows --= taken
      val passing = math.min(inserts.length, deletes.length - taken.length)
      val others = deletes.length - taken.length - passing
      if (deletes.nonEmpty && isRetraction(side, deletes.head.row)) {
        retracted(side) += others
        retractedRows(side) ++= Seq.fill(others)(new Stored(deletes.head.row, lost = false))
      } else unknown(side) += others
      // a row that is deleted and inserted is unchanged, with the age of this write
      val stay = taken.takeRight(inserts.length - passing)
      for ((change, i) <- inserts.drop(passing).zipWithIndex)
        rows += new Stored(change.row, stay.lift(i).exists(_.lost))
    }
  }

  /**
   * @param rows of both sides, with those that have expired
   * @param lost the rows with an expired partner
   */
  private def result(rows: Map[Side, Seq[Stored]], lost: Set[Stored]): Map[Out, Int] = {
    val (l, r) = (rows(Side.Left), rows(Side.Right))
    // a row that records the expiry of partners has no result with one that it did not record
    def met(side: Side, one: Stored, other: Stored) = !retractedRows(side).contains(one) ||
      retractedRows(side.other).contains(other) || !join.joinType.notesMatches(side.other) || lost(
        other
      )
    def gave(a: Stored, b: Stored) = join.matches(a.row, b.row) &&
      met(Side.Left, a, b) && met(Side.Right, b, a)
    def has(side: Side, one: Stored) = lost(one) ||
      rows(side.other).exists(o => if (side == Side.Left) gave(one, o) else gave(o, one))
    val joined = for (a <- l; b <- r if gave(a, b))
      yield Out(Some(bare(a.row)), Some(bare(b.row)))
    def alone(side: Side, partner: Boolean) =
      rows(side).filter(h => !h.row.deleted && has(side, h) == partner).map { h =>
        val row = Some(bare(h.row))
        if (side == Side.Left) Out(row, None) else Out(None, row)
      }
    val preserved = Side.both.filter(join.joinType.preserves).flatMap(alone(_, partner = false))
    val all = join.joinType match {
      case JoinType.LeftSemi => alone(Side.Left, partner = true)
      case JoinType.LeftAnti => preserved
      case _                 => joined ++ preserved
    }
    all.filter(join.wanted).groupMapReduce(identity)(_ => 1)(_ + _)
  }
}

private[changelog] object AgingModel {

  /** @param lost whether a partner of the row has expired */
  private final class Stored(val row: Row, var lost: Boolean)

  /** The output columns of a row, which are also its identity. */
  def bare(row: Row): Row = row.copy(sequence = 0, expires = Long.MaxValue)

  def difference(after: Map[Out, Int], before: Map[Out, Int]): Map[Out, Int] =
    (after.keySet ++ before.keySet).iterator
      .map(o => o -> (after.getOrElse(o, 0) - before.getOrElse(o, 0))).filter(_._2 != 0).toMap
}
