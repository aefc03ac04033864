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
    val all =
      if (removed.isEmpty || added.isEmpty) plain(removed, added)
      else {
        cancel()
        labelled()
      }
    counters.countOutput(all.length.toLong)
    removed.clear()
    added.clear()
    all.iterator
  }

  private def plain(gone: Iterable[O], come: Iterable[O]): Seq[Changed[O]] =
    gone.view.map(Changed(ChangeKind.Delete, _)).toVector ++
      come.view.map(Changed(ChangeKind.Insert, _))

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
  private def labelled(): Seq[Changed[O]] = {
    val images = mutable.HashMap.empty[AnyRef, O]
    for (row <- removed; key <- output.key(row)) images(key) = row
    if (images.isEmpty) plain(removed, added)
    else {
      val inserts = mutable.ArrayBuffer.empty[O]
      val updates = mutable.ArrayBuffer.empty[Changed[O]]
      for (row <- added) output.key(row).flatMap(images.remove) match {
        case Some(before) =>
          updates += Changed(ChangeKind.Preimage, before) += Changed(ChangeKind.Postimage, row)
        case None => inserts += row
      }
      val deletes = removed.filter(row => output.key(row).forall(images.get(_).contains(row)))
      deletes.view.map(Changed(ChangeKind.Delete, _)).toVector ++ updates ++
        inserts.view.map(Changed(ChangeKind.Insert, _))
    }
  }
}
