package io.streamjoin.join.changelog

import scala.collection.mutable

import io.streamjoin.join.Count.{Emitted, Suppressed}
import io.streamjoin.join.Counters

/**
 * Output delta of a batch: changes are collected, then consolidated, so that no row is both
 * deleted and inserted. It is used once for each join key, and once more for the output of
 * several keys that may have equal rows.
 *
 * @tparam O a row of the output
 */
final class OutputDelta[O](
    output: RowIdentity[O],
    counters: Counters
) {
  private val removed = mutable.ArrayBuffer.empty[O]
  private val added = mutable.ArrayBuffer.empty[O]

  /** Deletes of results by their keys. */
  private val byKey = mutable.ArrayBuffer.empty[O]
  private val rewritten = mutable.ArrayBuffer.empty[O]
  private val settled = mutable.ArrayBuffer.empty[Changed[O]]

  /** @param row None: not required */
  def emit(row: Option[O], added: Boolean): Unit =
    if (row.nonEmpty) (if (added) this.added else removed) += row.get

  /**
   * Deletes the result of a key, which may be another row than this one. So it does not cancel with
   * an equal row that is inserted.
   */
  def deleteByKey(row: O): Unit = byKey += row

  /** @param row an unchanged row that is emitted nevertheless, as an update */
  def rewrite(row: Option[O]): Unit = rewritten ++= row

  /**
   * Returns the consolidated changes, and starts anew. Deletes are first, and the two images of
   * an update are adjacent.
   *
   * @return to be read before the next call
   */
  def settle(): Iterator[Changed[O]] =
    if (removed.isEmpty && added.isEmpty && byKey.isEmpty && rewritten.isEmpty) Iterator.empty
    else {
      settled.clear()
      if (byKey.isEmpty && (removed.isEmpty || added.isEmpty)) plain(removed, added)
      else if (byKey.isEmpty && areInStep) updates()
      else {
        cancel()
        removed ++= byKey
        byKey.clear()
        if (removed.isEmpty || output.key(removed.head).isEmpty) plain(removed, added)
        else labelled()
      }
      for (row <- rewritten) update(row, row)
      rewritten.clear()
      counters.count(Emitted, settled.length.toLong)
      removed.clear()
      added.clear()
      read = 0
      inOrder
    }

  private var read = 0

  /** One iterator for all keys. */
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

  /** Whether deletes and inserts are pairs of one key, as most updates are. */
  private def areInStep: Boolean = removed.length == added.length && {
    var i = 0
    while (i < added.length && output.sameKey(removed(i), added(i))) i += 1
    i == added.length
  }

  private def updates(): Unit = {
    var i = 0
    while (i < added.length) {
      if (removed(i) == added(i)) counters.count(Suppressed, 1L)
      else update(removed(i), added(i))
      i += 1
    }
  }

  private def update(before: O, after: O): Unit = {
    settled += Changed(ChangeKind.Preimage, before)
    settled += Changed(ChangeKind.Postimage, after)
  }

  /** Equal rows, one deleted and one inserted, cancel. */
  private def cancel(): Unit = {
    val before = added.length
    if (removed.length * before.toLong <= OutputDelta.FewPairs) added.filterInPlace { row =>
      val same = removed.indexOf(row)
      if (same >= 0) removed.remove(same)
      same < 0
    }
    else cancelMany()
    counters.count(Suppressed, (before - added.length).toLong)
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
    // in the order of the deletes
    val images = mutable.LinkedHashMap.empty[AnyRef, O]
    // one of several rows with one key is replaced by the other image
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

  /** Fewer comparisons cost less than a table. */
  private val FewPairs = 64L
}
