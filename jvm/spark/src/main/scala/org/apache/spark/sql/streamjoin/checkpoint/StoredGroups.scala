package org.apache.spark.sql.streamjoin.checkpoint

import scala.util.hashing.MurmurHash3

import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

import io.streamjoin.model.Watermarks
import io.streamjoin.watermark.GroupedWatermark.Group

/**
 * The groups of a source column in the state. Each partition stores all of them with its rows.
 *
 * {{{
 *   groups.<column>                  hash of the names of the columns of the groups
 *   group.<column>.w.<group>         the watermark of a group
 *   group.<column>.a.<group>         the time at which it last had a row
 * }}}
 *
 * A query with other columns of groups, or without them, begins without groups, and removes the
 * stored ones. The watermark of the column continues.
 */
private[streamjoin] final class StoredGroups private (
    index: Int,
    per: Seq[String],
    numbers: StoredNumbers
) {
  import StoredGroups._

  private val (marker, columns) = markerOf(index, per)
  private val prefix = prefixOf(index)
  private val begun: Option[Long] = numbers.get(marker)
  private val stored: Map[String, Long] =
    if (begun.isEmpty) Map.empty else numbers.startingWith(prefix)

  /** The groups before the batch. */
  val groups: Map[String, Group] =
    if (begun.contains(columns)) read(index, stored) else Map.empty

  /** Replaces the stored groups. */
  def save(groups: Map[String, Group]): Unit =
    if (per.nonEmpty || begun.nonEmpty) {
      val now = if (per.isEmpty) Map.empty[String, Long] else groups.flatMap(numbersOf)
      for ((name, number) <- now if !stored.get(name).contains(number)) numbers.put(name, number)
      (stored.keySet -- now.keySet).foreach(numbers.remove)
      if (per.isEmpty) numbers.remove(marker)
      else if (!begun.contains(columns)) numbers.put(marker, columns)
    }

  private def numbersOf(group: (String, Group)): Seq[(String, Long)] = {
    val (name, Group(mark, active)) = group
    (prefix + Active + name -> active) +:
      Seq(prefix + Watermark + name -> mark).filter(_._2 != Watermarks.Unknown)
  }
}

private[streamjoin] object StoredGroups {

  private val Watermark = "w."
  private val Active = "a."

  /** The number that says of which columns the stored groups are. */
  def markerOf(index: Int, per: Seq[String]): (String, Long) =
    s"groups.$index" -> MurmurHash3.orderedHash(per).toLong

  private def prefixOf(index: Int) = s"group.$index."

  /** The groups of a source column in the numbers of an operator. */
  def read(index: Int, numbers: Map[String, Long]): Map[String, Group] = {
    val prefix = prefixOf(index)
    numbers.collect {
      case (name, active) if name.startsWith(prefix + Active) =>
        val group = name.stripPrefix(prefix + Active)
        val mark = numbers.getOrElse(prefix + Watermark + group, Watermarks.Unknown)
        group -> Group(mark, active)
    }
  }

  def of(index: Int, base: BaseColumn, numbers: StoredNumbers): StoredGroups = base match {
    case b: BaseColumn.Imposed    => new StoredGroups(index, b.per, numbers)
    case _: BaseColumn.Propagated => new StoredGroups(index, Nil, numbers)
  }
}
