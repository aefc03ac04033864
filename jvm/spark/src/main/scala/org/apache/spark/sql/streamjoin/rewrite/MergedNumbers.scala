package org.apache.spark.sql.streamjoin.rewrite

import org.apache.spark.sql.streamjoin.checkpoint.{HotKeySums, JoinDescription}
import org.apache.spark.sql.streamjoin.physical.eventtime.StoredKeyLoad
import org.apache.spark.sql.streamjoin.physical.timed.StoredDisorder

import io.streamjoin.model.{Side, Watermarks}
import io.streamjoin.placement.Routing

/**
 * The numbers beside the rows of each new partition, from those of the old ones.
 *
 * {{{
 *   watermarks, clocks, limits   equal in all partitions
 *   disorder of a column         in the first partition, added up: reports add up all partitions
 *   latest times of the rows     of the rows that the partition gets
 *   checksum of the hot keys     left out: their partitions are other ones
 * }}}
 *
 * @param from how rows were distributed over the old partitions
 * @param to how they are distributed over the new ones
 */
private[streamjoin] final class MergedNumbers(
    description: JoinDescription,
    from: Routing,
    to: Routing,
    surveys: Seq[Survey[_]],
    shares: Map[Int, Share]
) {
  private val byName: Map[String, Seq[(Int, Long)]] = surveys
    .flatMap(s => s.numbers.map { case (name, number) => name -> (s.partition -> number) })
    .groupMap(_._1)(_._2)

  private val (disorder, others) =
    byName.filterNot(n => StoredKeyLoad.isPart(n._1)).partition(n =>
      StoredDisorder.columnOf(n._1).nonEmpty
    )

  /** The names of the numbers that should be equal in all partitions, and are not. */
  def different: Seq[String] = others.collect {
    case (name, found) if found.length != surveys.length || found.map(_._2).distinct.length > 1 =>
      name
  }.toSeq.sorted

  def of(partition: Int): Map[String, Long] =
    (others - HotKeySums.Name).map { case (name, found) => name -> found.head._2 } ++
      (if (partition == 0) added else Map.empty) ++ latest(partition)

  private def added: Map[String, Long] = for {
    (name, found) <- disorder
    counted = found.collect { case (p, number) if countsIn(p, name) => number }
    if counted.nonEmpty
  } yield name -> StoredDisorder.added(name, counted)

  /** Of an input that is in all partitions, the first one counts. */
  private def countsIn(partition: Int, name: String): Boolean = {
    val column = StoredDisorder.columnOf(name).flatMap(description.times.said.lift)
    val side = column.flatMap(c => Side.both.find(s => c._1.name.startsWith(s"${s.name}.")))
    side.forall(from.countsIn(partition, _))
  }

  /** Rows of a hot key are spread only from a time after the rows that are buffered already. */
  private def latest(partition: Int): Map[String, Long] = to match {
    case Routing.ByKey | _: Routing.ByKeyAndTime =>
      val times = shares.getOrElse(partition, Share.Nothing).latest
      Side.both.filter(times(_) != Watermarks.Unknown)
        .map(side => StoredKeyLoad.latest(side) -> times(side)).toMap
    case _ => Map.empty
  }
}
