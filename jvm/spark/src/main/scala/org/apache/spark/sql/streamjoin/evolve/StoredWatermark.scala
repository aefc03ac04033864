package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.streamjoin.checkpoint.{StoredBases, StoredGroupColumns, StoredGroups}
import org.apache.spark.sql.streamjoin.physical.stateful.operator.BaseWatermarks

import io.streamjoin.model.Watermarks

/**
 * The watermark of a source column of a stored operator.
 *
 * @param name the name of the column in the checkpoint
 * @param index its number
 * @param numbers numbers of the operator: also the time at which its input last had a row
 * @param groups the columns of its groups in the checkpoint
 * @param sources the places in the checkpoint of its sources; empty: not known
 * @param input the index of its input
 */
private[evolve] final case class StoredWatermark(
    name: String,
    index: Int,
    numbers: Map[String, Long],
    groups: Option[StoredGroupColumns],
    sources: Set[Int],
    input: Int
) {

  def watermark: Long = number(BaseWatermarks.watermark(index))

  private def number(name: String): Long = numbers.getOrElse(name, Watermarks.Unknown)

  /** Whether its groups are stored. Without a row, there are none. */
  def hasGroups: Boolean =
    groups.exists(g => numbers.contains(StoredGroups.markerOf(index, g.per)._1))

  def startingAt(watermark: Long): StoredWatermark =
    copy(numbers = numbers + (BaseWatermarks.watermark(index) -> watermark))

  /** The watermark of a column with the rows of several ones, without their groups. */
  def and(others: Seq[StoredWatermark]): StoredWatermark = {
    val all = this +: others
    val least = all.map(_.watermark).min
    val active = all.map(w => w.number(BaseWatermarks.active(w.index))).max
    copy(
      numbers =
        Map(BaseWatermarks.watermark(index) -> least, BaseWatermarks.active(index) -> active)
          .filter(_._2 != Watermarks.Unknown),
      groups = all.flatMap(_.groups).headOption
    )
  }
}

private[evolve] object StoredWatermark {

  /** That of a column without stored numbers. */
  def unknown(name: String): StoredWatermark =
    StoredWatermark(name, 0, Map.empty, None, Set.empty, 0)

  /** Those of an operator, in its order. */
  def of(
      operator: StoredOperator,
      numbers: Map[String, Long],
      places: Seq[Seq[Int]]
  ): Seq[StoredWatermark] = {
    val json = operator.join.metadata.operatorPropertiesJson
    val groups = StoredGroupColumns.read(json)
    val names = operator.join.description.times.sources
    val all = places.flatten
    // earlier versions have not stored them: mostly each source has one column
    val sources = StoredBases.read(json)
      .getOrElse(names.indices.map(i => Set(i).filter(_ => names.length == all.length)))
    names.zip(sources).zipWithIndex.map { case ((name, from), i) =>
      val input = if (from.exists(_ >= places.head.length)) 1 else 0
      StoredWatermark(name, i, numbers, groups.find(_.source == i), from.map(all), input)
    }
  }
}
