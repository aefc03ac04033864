package io.streamjoin.join.changelog

import scala.collection.mutable

/**
 * What changes of a batch do to the output: collected, then netted, so that no row is both taken back and
 * given. Once for each join key, and once more for what several of them give, where that may be equal.
 *
 * @tparam O a row of the output
 */
final class OutputDelta[O](
    output: RowIdentity[O],
    counters: ChangelogCounters
) {
  private val removed = mutable.ArrayBuffer.empty[O]
  private val added = mutable.ArrayBuffer.empty[O]
  private val rewritten = mutable.ArrayBuffer.empty[(O, O)]
  private val settled = mutable.ArrayBuffer.empty[Changed[O]]

  /** @param row None: nobody wants it */
  def emit(row: Option[O], added: Boolean): Unit =
    if (row.nonEmpty) (if (added) this.added else removed) += row.get

  /** @param before equal to `after`, in an object of its own; the two are an update all the same */
  def rewrite(before: Option[O], after: Option[O]): Unit =
    if (before.nonEmpty && after.nonEmpty) rewritten += before.get -> after.get

  /**
   * What is left of them: removals first, an update's two images one after the other. Begins anew.
   *
   * @return to be read before the next call
   */
  def settle(): Iterator[Changed[O]] =
    if (removed.isEmpty && added.isEmpty && rewritten.isEmpty) Iterator.empty
    else {
      settled.clear()
      if (removed.isEmpty || added.isEmpty) plain(removed, added)
      else if (areInStep) updates()
      else {
        cancel()
        if (removed.isEmpty || output.key(removed.head).isEmpty) plain(removed, added)
        else labelled()
      }
      for ((before, after) <- rewritten) update(before, after)
      rewritten.clear()
      counters.countOutput(settled.length.toLong)
      removed.clear()
      added.clear()
      read = 0
      inOrder
    }

  private var read = 0

  /** One object for all keys, which asks nothing of the list but its rows. */
  private val inOrder: Iterator[Changed[O]] = new Iterator[Changed[O]] {
    override def hasNext: Boolean = read < settled.length

    override def next(): Changed[O] = {
      val changed = settled(read)
      read += 1
      changed
    }
  }

  private def plain(deletes: Iterable[O], inserts: Iterable[O]): Unit = {
    deletes.foreach(settled += Changed(ChangeKind.Delete, _))
    inserts.foreach(settled += Changed(ChangeKind.Insert, _))
  }

  /** Whether the rows were taken back and given two by two of one key, which is what most updates come to. */
  private def areInStep: Boolean = removed.length == added.length && {
    var i = 0
    while (i < added.length && output.sameKey(removed(i), added(i))) i += 1
    i == added.length
  }

  private def updates(): Unit = {
    var i = 0
    while (i < added.length) {
      if (removed(i) == added(i)) counters.countCancelledOutput(1L)
      else update(removed(i), added(i))
      i += 1
    }
  }

  private def update(before: O, after: O): Unit = {
    settled += Changed(ChangeKind.Preimage, before)
    settled += Changed(ChangeKind.Postimage, after)
  }

  /** Rows that are equal, one of them taken back and one given, are one row that stays. */
  private def cancel(): Unit = {
    val before = added.length
    if (removed.length * before.toLong <= OutputDelta.FewPairs) added.filterInPlace { row =>
      val same = removed.indexOf(row)
      if (same >= 0) removed.remove(same)
      same < 0
    }
    else cancelMany()
    counters.countCancelledOutput((before - added.length).toLong)
  }

  private def cancelMany(): Unit = {
    val inserted = mutable.HashMap.empty[O, Int]
    added.foreach(row => inserted(row) = inserted.getOrElse(row, 0) + 1)
    def isInserted(row: O): Boolean = inserted.updateWith(row)(_.map(_ - 1).filter(_ >= 0)).nonEmpty
    val stay = mutable.HashMap.empty[O, Int]
    removed.filterInPlace { row =>
      val stays = isInserted(row)
      if (stays) stay(row) = stay.getOrElse(row, 0) + 1
      !stays
    }
    if (stay.nonEmpty)
      added.filterInPlace(row => stay.updateWith(row)(_.map(_ - 1).filter(_ >= 0)).isEmpty)
  }

  /** Two images of one output key are an update. */
  private def labelled(): Unit = {
    // in the order in which they went
    val images = mutable.LinkedHashMap.empty[AnyRef, O]
    // of several rows with one key one is what the other image replaces
    val others = mutable.ArrayBuffer.empty[O]
    for (row <- removed) output.key(row) match {
      case Some(key) if !images.contains(key) => images(key) = row
      case _                                  => others += row
    }
    if (images.isEmpty) plain(removed, added)
    else {
      val inserts = mutable.ArrayBuffer.empty[O]
      val updates = mutable.ArrayBuffer.empty[(O, O)]
      for (row <- added) output.key(row).flatMap(images.remove) match {
        case Some(before) => updates += before -> row
        case None         => inserts += row
      }
      plain(others, Nil)
      plain(images.values, Nil)
      for ((before, after) <- updates) update(before, after)
      plain(Nil, inserts)
    }
  }
}

private object OutputDelta {

  /** So many comparisons cost less than a table. */
  private val FewPairs = 64L
}
