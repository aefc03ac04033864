package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.streamjoin.checkpoint.{StoredGroupColumns, StoredGroups}
import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException
import org.apache.spark.sql.streamjoin.physical.stateful.operator.BaseWatermarks

import io.streamjoin.model.Watermarks

/**
 * The watermark of a source column of a stored operator.
 *
 * @param name the name of the column in the checkpoint
 * @param index its number
 * @param numbers all numbers of the operator: also the time at which its input last had a row
 * @param groups the columns of its groups in the checkpoint
 */
private[evolve] final case class StoredWatermark(
    name: String,
    index: Int,
    numbers: Map[String, Long],
    groups: Option[StoredGroupColumns]
) {

  def watermark: Long = numbers.getOrElse(BaseWatermarks.watermark(index), Watermarks.Unknown)
}

/**
 * The watermarks of the source columns in a checkpoint.
 *
 * Each operator stores those of all its source columns, from left to right, as its sources are.
 *
 * @param stored the named numbers of each operator
 */
private[evolve] final class WatermarkTable(
    operators: Seq[StoredOperator],
    stored: Map[Long, Map[String, Long]],
    places: OperatorPlaces,
    renamed: String => String,
    refuse: (String, Seq[(String, String)]) => StreamJoinAnalysisException
) {

  /** Those of an operator, in its order. */
  private def of(operator: StoredOperator): Seq[StoredWatermark] = {
    val groups = StoredGroupColumns.read(operator.join.metadata.operatorPropertiesJson)
    operator.join.description.times.sources.zipWithIndex.map { case (name, i) =>
      StoredWatermark(name, i, stored(operator.id), groups.find(_.source == i))
    }
  }

  /** By the place of the source, where each source has one column. */
  private val bySource: Map[Int, StoredWatermark] = (for {
    operator <- operators
    own = places.before(operator).flatten
    found = of(operator) if found.length == own.length
    (place, watermark) <- own.zip(found)
  } yield place -> watermark).toMap

  /**
   * The watermarks of the source columns of a changed operator, in its order; none for a column of a
   * new source.
   *
   * @param before the operator with whose rows it continues
   */
  def of(now: ChangedOperator, before: Option[StoredOperator]): Seq[Option[StoredWatermark]] = {
    val names = now.exec.bases.map(_.name)
    val own = places.now(now).flatten
    before.map(b => (b, of(b))) match {
      // a source that a union adds has the event time of the others
      case Some((b, found))
          if found.corresponds(names)(isNamed) &&
            places.before(b).flatten == own.filter(_ != SourceMap.New) =>
        found.map(Some(_))
      case _ if names.length == own.length =>
        names.zip(own).map { case (name, place) =>
          val found = bySource.get(place)
          for (w <- found if !isNamed(w, name) && before.nonEmpty)
            throw other(now, w.name, name)
          found.filter(isNamed(_, name))
        }
      case Some((_, found)) =>
        throw other(now, found.map(_.name).mkString(", "), names.mkString(", "))
      case None => names.map(_ => None)
    }
  }

  /** A column of another input with the same old name may be the renamed one. */
  private def isNamed(stored: StoredWatermark, name: String): Boolean =
    stored.name == name || renamed(stored.name) == name

  /** The named numbers that an operator stores of them. Groups by a renamed column stay. */
  def numbers(found: Seq[Option[StoredWatermark]]): Map[String, Long] =
    found.zipWithIndex.flatMap { case (one, i) =>
      one.toSeq.flatMap { w =>
        BaseWatermarks.moved(w.numbers, w.index, i) ++ w.groups.map(_.per).collect {
          case per if w.numbers.exists(_ == StoredGroups.markerOf(w.index, per)) =>
            StoredGroups.markerOf(i, per.map(renamed))
        }
      }
    }.toMap

  /** The changes of their groups, each in a sentence. */
  def changedGroups(now: ChangedOperator, found: Seq[Option[StoredWatermark]]): Seq[String] = {
    val groups = StoredGroupColumns.read(now.exec.described)
    found.zipWithIndex.flatMap { case (one, i) =>
      one.flatMap { w =>
        val before = w.groups.map(g => g.copy(per = g.per.map(renamed)))
        StoredGroupColumns.change(before, groups.find(_.source == i))
      }
    }
  }

  private def other(operator: ChangedOperator, before: String, now: String) =
    refuse(
      "OTHER_EVENT_TIME",
      Seq("operator" -> operator.name, "before" -> before, "now" -> now)
    )
}

private[evolve] object WatermarkTable {

  /** The watermarks as an operator reads them. */
  def base(found: Seq[Option[StoredWatermark]]): Array[Long] =
    found.map(_.fold(Watermarks.Unknown)(_.watermark)).toArray
}
