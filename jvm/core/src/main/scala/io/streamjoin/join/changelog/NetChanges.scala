package io.streamjoin.join.changelog

import scala.collection.mutable

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.state.JoinState

import ChangelogCounters.{Cancelled, Deleted, Late, Stale, Unknown}

/**
 * A row as it was held.
 *
 * @param matched whether a partner of it has expired
 */
private[changelog] final case class Held[R](row: R, matched: Boolean)

/** What the changes of one join key come to, of one side. */
private[changelog] final case class Net[R](
    removed: collection.IndexedSeq[Held[R]],
    added: collection.IndexedSeq[R]
) {
  def isEmpty: Boolean = removed.isEmpty && added.isEmpty
}

/**
 * By what equal rows differ: those that go first are the smallest.
 *
 * @param limits at which clocks it leaves
 */
private final case class Going(limits: Seq[Long], matched: Boolean)

private object Going {
  private val byLimits: Ordering[Seq[Long]] = scala.math.Ordering.Implicits.seqOrdering[Seq, Long]

  implicit val first: Ordering[Going] =
    Ordering.by[Going, Seq[Long]](_.limits)(byLimits).orElseBy(_.matched)
}

/**
 * Nets the changes of a batch by the identity of their rows, and takes what goes out of the state. The
 * order in which changes come has no say.
 *
 * {{{
 *   with a unique key                          without
 *     ascending by sequence; of each step        for each row: how often it came, less how often
 *       equal rows of both kinds cancel          it went
 *       a row is left     -> is held now           more  -> so many are added
 *       only removals are -> nothing is held       fewer -> so many of those held are removed
 * }}}
 *
 * Where equal rows without a key may leave at different times, that one goes that would leave first, and of those
 * that leave together one that has lost no partner by age. A row that goes and comes in one batch is as old as its last
 * write. So which rows are held does not depend on how their changes were cut into batches, nor on the order in which a
 * state shows them.
 *
 * @param forgets whether a side's rows note that a partner of them has left by its age
 */
private[changelog] final class NetChanges[R](
    rows: ChangelogRows[R],
    state: JoinState[R],
    counters: ChangelogCounters,
    keeps: (Side, R) => Boolean,
    forgets: Side => Boolean
) {

  def of(side: Side, key: Long, arrived: collection.Seq[Change[R]]): Net[R] =
    if (arrived.isEmpty) Net(mutable.ArrayBuffer.empty, mutable.ArrayBuffer.empty)
    else {
      val (late, changes) = split(arrived)(rows.late(side, _))
      counters.count(side, Late, late.length.toLong)
      netted(side, key, changes)
    }

  /** Changes whose rows are so, and the others; of most batches there are none that are. */
  private def split(changes: collection.Seq[Change[R]])(
      is: R => Boolean
  ): (collection.Seq[Change[R]], collection.Seq[Change[R]]) = {
    var i = 0
    while (i < changes.length && !is(changes(i).row)) i += 1
    if (i < changes.length) changes.partition(c => is(c.row)) else (Nil, changes)
  }

  private def netted(side: Side, key: Long, changes: collection.Seq[Change[R]]): Net[R] = {
    val removed = mutable.ArrayBuffer.empty[Held[R]]
    val added = mutable.ArrayBuffer.empty[R]
    for (one <- byIdentity(side, changes)) {
      if (rows.keyed(side)) keyed(side, key, one, removed, added)
      else counted(side, key, one, removed, added)
    }
    counters.count(
      side,
      Cancelled,
      math.max(0L, (changes.length - removed.length - added.length).toLong - ignored)
    )
    ignored = 0L
    counters.count(side, Deleted, removed.length.toLong)
    Net(removed, added)
  }

  /** Changes that are counted as something else than cancelled. */
  private var ignored = 0L

  private def ignore(side: Side, why: ChangelogCounters.Count, changes: Long): Unit = {
    counters.count(side, why, changes)
    ignored += changes
  }

  /** The changes of each row; in the order in which a row first comes. */
  private def byIdentity(
      side: Side,
      changes: collection.Seq[Change[R]]
  ): Iterable[collection.Seq[Change[R]]] =
    if (changes.isEmpty) Nil
    else if (ofOneRow(side, changes)) Seq(changes)
    else {
      val found =
        mutable.LinkedHashMap.empty[Long, mutable.ArrayBuffer[mutable.ArrayBuffer[Change[R]]]]
      for (change <- changes) {
        // rows of one hash are hardly ever different ones
        val sameHash = found.getOrElseUpdate(
          rows.identity(side, change.row),
          mutable.ArrayBuffer.empty
        )
        sameHash.find(one => isSame(side, one.head.row, change.row)) match {
          case Some(one) => one += change
          case None      => sameHash += mutable.ArrayBuffer(change)
        }
      }
      found.values.flatten
    }

  private def ofOneRow(side: Side, changes: collection.Seq[Change[R]]): Boolean = {
    var i = 1
    while (i < changes.length && isSame(side, changes(0).row, changes(i).row)) i += 1
    i == changes.length
  }

  private def isSame(side: Side, a: R, b: R): Boolean =
    if (rows.keyed(side)) rows.sameUniqueKey(side, a, b) else rows.compare(side, a, b) == 0

  // ---- rows with a unique key ----

  private def keyed(
      side: Side,
      key: Long,
      changes: collection.Seq[Change[R]],
      removed: mutable.ArrayBuffer[Held[R]],
      added: mutable.ArrayBuffer[R]
  ): Unit = {
    val found =
      take(side, key, changes.head.row, 1)((row, _) =>
        rows.sameUniqueKey(side, row, changes.head.row)
      ).headOption
    val held = found.filterNot(h => rows.isTombstone(side, h.row))
    val (stale, fresh) = found match {
      case Some(h) => split(changes)(rows.compareSequence(side, _, h.row) < 0)
      case None    => (Nil, changes)
    }
    if (stale.nonEmpty) ignore(side, Stale, stale.length.toLong)
    val last = ofLast(side, fresh)
      .getOrElse(steps(side, fresh).foldLeft(held.map(_.row))(step(side)))
    if (last.isEmpty) bury(side, key, found.map(_.row), fresh)
    val after = last.filter(row => keeps(side, row))
    if (held.isEmpty && !fresh.exists(_.added)) {
      ignore(side, Unknown, fresh.count(c => keeps(side, c.row)).toLong)
    }
    (held, after) match {
      case (Some(h), Some(row)) if rows.compare(side, h.row, row) == 0 =>
        // a write all the same: it begins its time in the state anew
        val written = if (fresh.isEmpty) h.row else row
        append(side, key, written, h.matched)
      case _ =>
        removed ++= held
        added ++= after
    }
  }

  /**
   * Notes that a key is gone, with the latest sequence known.
   *
   * @param before the row that was held, or the sign that there is none
   */
  private def bury(
      side: Side,
      key: Long,
      before: Option[R],
      fresh: collection.Seq[Change[R]]
  ): Unit = {
    val gone = fresh.view.filterNot(_.added).map(_.row).reduceOption { (a, b) =>
      val order = rows.compareSequence(side, a, b)
      if (order < 0 || order == 0 && rows.compare(side, a, b) < 0) b else a
    }
    gone.flatMap(rows.tombstone(side, _, before))
      .orElse(before.filter(rows.isTombstone(side, _)))
      .foreach(append(side, key, _, matched = false))
  }

  /**
   * What is held after the changes of the largest sequence, whatever came before them: one walk, however
   * often a row was changed. None: they cancel, so that it does depend on that.
   */
  private def ofLast(side: Side, changes: collection.Seq[Change[R]]): Option[Option[R]] = {
    val last = mutable.ArrayBuffer.empty[Change[R]]
    for (change <- changes) {
      val order = if (last.isEmpty) 0 else rows.compareSequence(side, last.head.row, change.row)
      if (order < 0) last.clear()
      if (order <= 0) last += change
    }
    if (last.isEmpty) None else decided(side, net(side, last))
  }

  /** None: nothing is left of the changes. */
  private def decided(side: Side, left: collection.Seq[(R, Int)]): Option[Option[R]] = {
    val come = left.filter(_._2 > 0).map(_._1)
    if (come.nonEmpty) {
      Some(Some(come.reduce((a, b) => if (rows.compare(side, a, b) < 0) b else a)))
    } else Option.when(left.exists(_._2 < 0))(None)
  }

  /** Changes of one sequence, the earliest first. */
  private def steps(
      side: Side,
      changes: collection.Seq[Change[R]]
  ): Iterator[collection.Seq[Change[R]]] =
    if (changes.length <= 1) Iterator(changes).filter(_.nonEmpty)
    else {
      val sorted = changes.sortWith((a, b) => rows.compareSequence(side, a.row, b.row) < 0)
      var rest: collection.Seq[Change[R]] = sorted
      Iterator.continually {
        val (one, others) = rest.span(c => rows.compareSequence(side, c.row, rest.head.row) == 0)
        rest = others
        one
      }.takeWhile(_.nonEmpty)
    }

  private def step(side: Side)(before: Option[R], changes: collection.Seq[Change[R]]): Option[R] = {
    val left = net(side, changes)
    decided(side, left).getOrElse {
      // it was written all the same, and has a later sequence
      before.map(row => left.map(_._1).find(rows.compare(side, _, row) == 0).getOrElse(row))
    }
  }

  /** Each row, with how often it came, less how often it went. */
  private def net(side: Side, changes: collection.Seq[Change[R]]): collection.Seq[(R, Int)] =
    if (changes.length == 1) Seq(changes.head.row -> (if (changes.head.added) 1 else -1))
    else {
      val sums = mutable.ArrayBuffer.empty[(R, Int)]
      for (c <- changes.sortWith((a, b) => rows.compare(side, a.row, b.row) < 0)) {
        val weight = if (c.added) 1 else -1
        if (sums.nonEmpty && rows.compare(side, sums.last._1, c.row) == 0) {
          sums(sums.length - 1) = (sums.last._1, sums.last._2 + weight)
        } else sums += c.row -> weight
      }
      sums
    }

  // ---- rows without ----

  private def counted(
      side: Side,
      key: Long,
      changes: collection.Seq[Change[R]],
      removed: mutable.ArrayBuffer[Held[R]],
      added: mutable.ArrayBuffer[R]
  ): Unit = {
    val row = changes.head.row
    if (keeps(side, row)) {
      val (come, go) = (changes.count(_.added), changes.count(!_.added))
      val both = if (rows.agesByWrite(side)) 0 else math.min(come, go)
      val gone = takeEqual(side, key, row, go - both)
      // of those that come, so many go again
      val passing = both + math.min(come - both, go - both - gone.length)
      val again = math.min(gone.length, come - passing)
      val unknown = go - passing - gone.length
      if (unknown > 0) ignore(side, Unknown, unknown.toLong)
      removed ++= gone.dropRight(again)
      gone.takeRight(again).foreach(h => append(side, key, row, h.matched))
      added ++= Iterator.fill(come - passing - again)(row)
    }
  }

  /** Takes as many rows that are equal to this one, at most: those first that go first. */
  private def takeEqual(
      side: Side,
      key: Long,
      row: R,
      atMost: Int
  ): collection.IndexedSeq[Held[R]] = {
    def isEqual(other: R) = rows.compare(side, other, row) == 0
    if (atMost == 0) Vector.empty
    else if (!rows.agesByWrite(side) && !forgets(side))
      take(side, key, row, atMost)((other, _) => isEqual(other))
    else {
      val all = mutable.ArrayBuffer.empty[Going]
      take(side, key, row, 1) { (other, matched) =>
        if (isEqual(other)) all += going(side, other, matched)
        false
      }
      val first = all.sorted.take(atMost)
      val open = mutable.HashMap.from(first.groupMapReduce(identity)(_ => 1)(_ + _))
      take(side, key, row, first.length) { (other, matched) =>
        isEqual(other) && {
          val place = going(side, other, matched)
          open.updateWith(place)(_.map(_ - 1).filter(_ >= 0)).nonEmpty
        }
      }.sortBy(h => going(side, h.row, h.matched))
    }
  }

  private def going(side: Side, row: R, matched: Boolean): Going = {
    val limits = new Array[Long](rows.limitCount(side))
    rows.limits(side, row, limits)
    Going(limits.toSeq, matched)
  }

  // ---- the state ----

  /**
   * Takes as many rows out of the state, at most, and returns them.
   *
   * @param goes whether it is such a row, given whether a partner of it has left
   */
  private def take(side: Side, key: Long, like: R, atMost: Int)(
      goes: (R, Boolean) => Boolean
  ): collection.IndexedSeq[Held[R]] = {
    val id = rows.identity(side, like)
    val found = mutable.ArrayBuffer.empty[Held[R]]
    val held = state.probe(side, key, id, id)
    while (found.length < atMost && held.hasNext) {
      val one = held.next()
      if (goes(one.row, one.matched)) {
        found += Held(rows.copy(side, one.row), one.matched)
        held.remove()
      }
    }
    held.close()
    found
  }

  private val limitsOf = BySide.of(side => new Array[Long](rows.limitCount(side)))

  def append(side: Side, key: Long, row: R, matched: Boolean): Unit = {
    val limits = limitsOf(side)
    rows.limits(side, row, limits)
    state.append(side, key, rows.identity(side, row), limits, row, matched)
  }
}
