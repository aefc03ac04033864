package io.streamjoin.join.changelog

import scala.collection.mutable

import io.streamjoin.model.{JoinType, Side}

/**
 * Model of the rules for rows that expire, without optimizations: two lists of rows, and the join
 * of them before and after each batch. `docs/concepts/state-ttl.md` has the rules.
 */
private[changelog] final class AgingModel(join: TestChangelog) {
  import AgingModel._

  private val stored = Side.both.map(_ -> mutable.ArrayBuffer.empty[Stored]).toMap

  /** The rows that are not stored, but are part of the result before the batch. */
  private val leaving = Side.both.map(_ -> mutable.ArrayBuffer.empty[Stored]).toMap

  /**
   * Rows that expired, deletes of rows that are not stored and of expired rows, and changes older
   * than the stored row, since the beginning.
   */
  val expired, unknown, retracted, stale: mutable.Map[Side, Long] =
    mutable.Map.empty[Side, Long].withDefaultValue(0L)

  /** The results that the last batch has deleted by their keys. Equal rows may be inserted. */
  var deletedByKey: Set[Out] = Set.empty

  def size(side: Side): Int = stored(side).length

  /** A row expires after the end of its TTL. */
  def at(now: Long): Unit = for (side <- Side.both) {
    val (over, stay) = stored(side).toSeq.partition(_.row.expires < now)
    stored(side).clear()
    stored(side) ++= stay
    leaving(side).clear()
    if (join.expiry == Expiry.Retract) leaving(side) ++= over.filterNot(_.row.deleted)
    expired(side) += over.length
  }

  /** The changes of the result in a batch: the inserts of each row minus its deletes. */
  def batch(changes: Map[Side, Seq[Change[Row]]]): Map[Out, Int] = {
    val before = stored.map { case (side, rows) => side -> rows.toSeq }
    for (side <- Side.both)
      changes(side).groupBy(c => identityOf(side, c.row)).values.foreach { of =>
        if (join(side).keyed) keyed(side, of) else counted(side, of)
      }
    val past = before.map { case (side, rows) => side -> (rows ++ leaving(side)) }
    val after = stored.map { case (side, rows) => side -> rows.toSeq }
    for (side <- Side.both; one <- before(side))
      one.isFound = after(side).exists(s => !s.row.deleted && bare(s.row) == bare(one.row)) &&
        partners(side, one, after)
    val was = result(past)
    deletedByKey = ofKeys(past)
    count(before)
    // computed before any of them changes
    val met = for (side <- Side.both; one <- stored(side)) yield one -> hasResults(side, one, past)
    for ((one, results) <- met) one.met = results
    leaving.values.foreach(_.clear())
    difference(result(after), was)
  }

  /**
   * Whether a stored row has results: with a stored partner, or with one that has expired. If its
   * key identifies them, the delete of its last stored partner has retracted them.
   */
  private def hasResults(side: Side, one: Stored, past: Map[Side, Seq[Stored]]): Boolean = {
    val partner = stored(side.other).exists(o => pairs(side, one.row, o.row))
    val retracted = join.identifies(side) && past(side.other).exists(gave(side, one, _))
    join(side).marksMatched && (partner || one.met && !retracted)
  }

  /** Counts the deletes of rows that are not stored by whether they retract anything. */
  private def count(before: Map[Side, Seq[Stored]]): Unit =
    for (side <- Side.both; one <- leaving(side) if one.isDeleted) {
      val others = before(side.other)
      val partner = others.exists(gave(side, one, _))
      if (
        partner || (alone(side, one, partner).filter(join.wanted) ++ ofKey(
          side,
          one,
          partner
        )).nonEmpty
      )
        retracted(side) += 1
      else unknown(side) += 1
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
      val effects = steps.map(consolidated).filter(_ != (Nil -> Nil))
      val removed = effects.headOption.flatMap(_._1.maxByOption(bare(_).toString))
        .filter(row => before.isEmpty && isRetraction(side, row))
      rows --= before
      after match {
        case Some(row) =>
          val stays = was.exists(bare(_) == bare(row))
          if (!stays) before.foreach(_.isRemoved = true)
          rows += new Stored(row, stays && before.get.met)
        case None if before.nonEmpty || effects.nonEmpty =>
          before.foreach(_.isRemoved = true)
          // a deleted row leaves a tombstone if it would expire itself
          val last =
            fresh.filterNot(_.added).maxByOption(_.row.sequence).map(_.row.copy(deleted = true))
          rows ++= last.filter(
            _.expires != Long.MaxValue
          ).orElse(before.map(_.row).filter(_.deleted)).map(new Stored(_, met = false))
        case None =>
      }
      leaving(side) ++= removed.map(new Stored(_, met = false, isDeleted = true))
      if (removed.isEmpty && was.isEmpty && !fresh.exists(_.added)) unknown(side) += fresh.length
    }
  }

  /** The deletes and inserts of one sequence, without equal ones. */
  private def consolidated(step: Seq[Change[Row]]): (Seq[Row], Seq[Row]) = {
    val (inserts, deletes) = step.partition(_.added)
    def isIn(some: Seq[Change[Row]])(c: Change[Row]) = some.exists(s => bare(s.row) == bare(c.row))
    (deletes.filterNot(isIn(inserts)).map(_.row), inserts.filterNot(isIn(deletes)).map(_.row))
  }

  /** A delete removes the equal row that expires first, and among those one that has met no partner. */
  private def counted(side: Side, changes: Seq[Change[Row]]): Unit = {
    val (inserts, deletes) = changes.partition(_.added)
    if (stores(side, changes.head.row)) {
      val rows = stored(side)
      val like = bare(changes.head.row)
      val taken = rows.toSeq.filter(h => bare(h.row) == like).sortBy(h => (h.row.expires, h.met))
        .take(deletes.length)
      rows --= taken
      val passing = math.min(inserts.length, deletes.length - taken.length)
      val others = deletes.length - taken.length - passing
      if (deletes.nonEmpty && isRetraction(side, deletes.head.row))
        leaving(side) ++=
          Seq.fill(others)(new Stored(deletes.head.row, met = false, isDeleted = true))
      else unknown(side) += others
      // a row that is deleted and inserted is unchanged, with the age of this write
      val stay = taken.takeRight(inserts.length - passing)
      taken.dropRight(inserts.length - passing).foreach(_.isRemoved = true)
      for ((change, i) <- inserts.drop(passing).zipWithIndex)
        rows += new Stored(change.row, stay.lift(i).exists(_.met))
    }
  }

  /** Whether two rows have a result: of a row that is not stored, only if the other has met a partner. */
  private def gave(side: Side, one: Stored, other: Stored): Boolean = {
    def has(side: Side, stored: Stored) = stored.met || !join(side).marksMatched
    pairs(side, one.row, other.row) && (
      if (one.isDeleted) !other.isDeleted && has(side.other, other)
      else !other.isDeleted || has(side, one)
    )
  }

  private def pair(side: Side, one: Stored, other: Stored): Out = {
    val (l, r) = if (side == Side.Left) (one, other) else (other, one)
    Out(Some(bare(l.row)), Some(bare(r.row)))
  }

  private def padded(side: Side, one: Stored): Out =
    if (side == Side.Left) Out(Some(bare(one.row)), None) else Out(None, Some(bare(one.row)))

  /** The row that is emitted without its partners. */
  private def alone(side: Side, one: Stored, partner: Boolean): Option[Out] = Option.when(
    if (join.joinType == JoinType.LeftSemi) side == Side.Left && partner
    else join.joinType.preserves(side) && !partner
  )(padded(side, one))

  private def partners(side: Side, one: Stored, rows: Map[Side, Seq[Stored]]): Boolean =
    rows(side.other).exists(o => pairs(side, one.row, o.row))

  /** Whether the result of a row is deleted by its key, because its partner has expired. */
  private def isOutlived(side: Side, one: Stored, partner: Boolean): Boolean = {
    val padded = join.joinType.preserves(side) && join.joinType != JoinType.LeftSemi
    join.identifies(side) && (
      if (one.isDeleted) !partner || join.joinType.leftOnly
      else (one.isRemoved || one.isFound && padded) && one.met && !partner
    )
  }

  /** The result of a row that is deleted by its key, unless the row is emitted alone. */
  private def ofKey(side: Side, one: Stored, partner: Boolean): Option[Out] = Option.when(
    isOutlived(side, one, partner) && !alone(side, one, partner).exists(join.wanted)
  )(padded(side, one))

  /** The pairs of expired rows that are deleted by their key, each with the padded row. */
  private def pairsByKey(rows: Map[Side, Seq[Stored]]): Seq[(Out, Out)] = for {
    side <- Side.both
    one <- rows(side) if one.isDeleted && join.identifies(side) && !join.joinType.leftOnly
    other <- rows(side.other) if gave(side, one, other)
  } yield pair(side, one, other) -> padded(side, one)

  private def ofKeys(rows: Map[Side, Seq[Stored]]): Set[Out] =
    (for (
      side <- Side.both; one <- rows(side)
      if isOutlived(side, one, rows(side.other).exists(gave(side, one, _)))
    ) yield padded(side, one)).toSet ++ pairsByKey(rows).flatMap { case (a, b) => Seq(a, b) }

  private def result(rows: Map[Side, Seq[Stored]]): Map[Out, Int] = {
    val joined =
      for (
        a <- rows(Side.Left) if !join.joinType.leftOnly;
        b <- rows(Side.Right) if gave(Side.Left, a, b)
      ) yield pair(Side.Left, a, b)
    val others = for (side <- Side.both; one <- rows(side) if !one.row.deleted) yield {
      val partner = rows(side.other).exists(gave(side, one, _))
      (alone(side, one, partner), ofKey(side, one, partner))
    }
    val unwanted = pairsByKey(rows).collect { case (pair, key) if !join.wanted(pair) => key }
    ((joined ++ others.flatMap(_._1)).filter(join.wanted) ++ others.flatMap(_._2) ++ unwanted)
      .groupMapReduce(identity)(_ => 1)(_ + _)
  }
}

private[changelog] object AgingModel {

  /**
   * @param met whether the row has results with partners that may expire
   * @param isDeleted whether the row is not stored, and deleted nevertheless
   */
  private final class Stored(val row: Row, var met: Boolean, val isDeleted: Boolean = false) {

    /** Whether the current batch deletes or replaces the row. */
    var isRemoved: Boolean = false

    /** Whether the row was stored before the current batch, and has a partner after it. */
    var isFound: Boolean = false
  }

  /** The output columns of a row, which are also its identity. */
  def bare(row: Row): Row = row.copy(sequence = 0, expires = Long.MaxValue)

  def difference(after: Map[Out, Int], before: Map[Out, Int]): Map[Out, Int] =
    (after.keySet ++ before.keySet).iterator
      .map(o => o -> (after.getOrElse(o, 0) - before.getOrElse(o, 0))).filter(_._2 != 0).toMap
}
