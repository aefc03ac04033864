package io.streamjoin.join.changelog

import scala.collection.mutable

/**
 * What the changes of one join key do to the output: collected, then netted, so that no row is both
 * taken back and given.
 *
 * @tparam O a row of the output
 */
private[changelog] final class Effects[O](
    output: ChangelogOutput[_, O],
    counters: ChangelogCounters
) {
  private val removed = mutable.ArrayBuffer.empty[O]
  private val added = mutable.ArrayBuffer.empty[O]

  def remove(row: O): Unit = removed += row

  def add(row: O): Unit = added += row

  /**
   * What is left of them: removals first, an update's two images one after the other. Begins anew.
   */
  def settle(): Iterator[Changed[O]] = {
    val all: collection.Seq[Changed[O]] =
      if (removed.isEmpty || added.isEmpty) plain(removed, added)
      else if (removed.length == 1 && added.length == 1) onlyTwo(removed.head, added.head)
      else {
        cancel()
        labelled()
      }
    counters.countOutput(all.length.toLong)
    removed.clear()
    added.clear()
    all.iterator
  }

  private def plain(
      gone: mutable.ArrayBuffer[O],
      come: mutable.ArrayBuffer[O]
  ): collection.Seq[Changed[O]] = {
    val all = new mutable.ArrayBuffer[Changed[O]](gone.length + come.length)
    gone.foreach(all += Changed(ChangeKind.Delete, _))
    come.foreach(all += Changed(ChangeKind.Insert, _))
    all
  }

  /** What most updates come to. */
  private def onlyTwo(before: O, after: O): Seq[Changed[O]] =
    if (before == after) {
      counters.countCancelledOutput(1L)
      Nil
    } else {
      val key = output.key(before)
      if (key.nonEmpty && key == output.key(after)) update(before, after)
      else Seq(Changed(ChangeKind.Delete, before), Changed(ChangeKind.Insert, after))
    }

  private def update(before: O, after: O): Seq[Changed[O]] =
    Seq(Changed(ChangeKind.Preimage, before), Changed(ChangeKind.Postimage, after))

  /** Rows that are equal, one of them taken back and one given, are one row that stays. */
  private def cancel(): Unit = {
    val open = mutable.HashMap.empty[O, Int]
    removed.foreach(row => open(row) = open.getOrElse(row, 0) + 1)
    val before = added.length
    added.filterInPlace { row =>
      val stays = open.get(row).filter(_ > 0)
      stays.foreach(n => open(row) = n - 1)
      stays.isEmpty
    }
    if (added.length < before) {
      removed.clear()
      open.foreach { case (row, n) => removed ++= Iterator.fill(n)(row) }
      counters.countCancelledOutput((before - added.length).toLong)
    }
  }

  /** Two images of one output key are an update. */
  private def labelled(): collection.Seq[Changed[O]] = {
    // in the order in which they went
    val images = mutable.LinkedHashMap.empty[AnyRef, O]
    for (row <- removed; key <- output.key(row)) images(key) = row
    if (images.isEmpty) plain(removed, added)
    else {
      val distinct = images.size == removed.length
      val inserts = mutable.ArrayBuffer.empty[O]
      val updates = mutable.ArrayBuffer.empty[Changed[O]]
      for (row <- added) output.key(row).flatMap(images.remove) match {
        case Some(before) => updates ++= update(before, row)
        case None         => inserts += row
      }
      val deletes =
        if (distinct) images.values
        else removed.filter(row => output.key(row).forall(images.get(_).contains(row)))
      deletes.view.map(Changed(ChangeKind.Delete, _)).toVector ++ updates ++
        inserts.view.map(Changed(ChangeKind.Insert, _))
    }
  }
}
