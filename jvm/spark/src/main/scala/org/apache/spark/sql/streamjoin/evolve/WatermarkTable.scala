package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.streamjoin.checkpoint.{StoredGroupColumns, StoredGroups}
import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException
import org.apache.spark.sql.streamjoin.physical.stateful.operator.BaseWatermarks

import io.streamjoin.model.{Side, Watermarks}
import io.streamjoin.watermark.WatermarkPlan

/**
 * The watermarks of the source columns in a checkpoint, found by the names of the columns and by
 * their sources.
 *
 * {{{
 *   checkpoint                            changed query, a union of all
 *   a.union(b).imposeOrder("t")   12:00   a.imposeOrder("t")            12:00
 *   c.imposeOrder("t")            11:00   b.union(c).imposeOrder("t")   11:00, the least of both
 *                                         d.imposeOrder("t")            11:00, the least of the union
 * }}}
 *
 * A watermark must not decrease: partners of the rows below it are evicted.
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
  import WatermarkTable._

  /** Those of each operator, in its order. */
  private val known: Map[Long, Seq[StoredWatermark]] =
    operators.map(o => o.id -> StoredWatermark.of(o, stored(o.id), places.before(o))).toMap

  /**
   * The watermarks of the source columns of a changed operator, in its order; none for a column of a
   * new source.
   *
   * @param continued the operator with whose rows it continues
   */
  def of(now: ChangedOperator, continued: Option[Continued]): Seq[Option[StoredWatermark]] = {
    val columns = columnsOf(now)
    val own = continued.fold(Seq.empty[StoredWatermark])(c => known(c.before.id))
    if (own.exists(_.sources.isEmpty)) {
      val isSame = own.corresponds(columns)((w, column) => isNamed(w, column.name)) &&
        continued.exists(c => places.before(c.before).flatten == sourcesOf(now))
      if (!isSame) throw other(now, own)
      own.map(Some(_))
    } else {
      val found = columns.map(column => find(now, column, columns, continued))
      // the time of a column that is not one any more may have decided what is late
      own.diff(found.flatten).filter(_.sources.exists(sourcesOf(now).contains))
        .foreach(w => throw other(now, Seq(w)))
      raised(now, columns, found, continued)
    }
  }

  private def sourcesOf(now: ChangedOperator) = places.now(now).flatten.filter(_ != SourceMap.New)

  private def columnsOf(now: ChangedOperator): Seq[Column] = {
    val all = places.now(now)
    now.exec.bases.zip(now.exec.baseSources).map { case (base, sources) =>
      val input = if (sources.exists(_ >= all.head.length)) 1 else 0
      Column(base.name, input, sources.map(all.flatten) - SourceMap.New)
    }
  }

  /** The stored watermarks in which a column is looked for: those of its input, then all others. */
  private def tables(
      column: Column,
      continued: Option[Continued]
  ): Seq[Seq[StoredWatermark]] = {
    val (own, others) = operators.partition(o => continued.exists(_.before.id == o.id))
    val (ofInput, beside) = own.flatMap(o => known(o.id)).partition(isOfInput(_, column, continued))
    // the lowest join of a column comes last
    Seq(ofInput, beside) ++ others.reverse.map(o => known(o.id))
  }

  private def isOfInput(w: StoredWatermark, column: Column, continued: Option[Continued]) =
    continued.forall(_.from(Side.both(column.input)).index == w.input)

  /** The watermarks of the columns whose rows a column has. */
  private def find(
      now: ChangedOperator,
      column: Column,
      all: Seq[Column],
      continued: Option[Continued]
  ): Seq[StoredWatermark] = {
    val found = tables(column, continued).map(_.filter(w => overlap(w.sources, column.sources)))
      .find(_.nonEmpty).getOrElse(untold(column))
    val named = found.filter(isNamed(_, column.name))
    val same = named.filter(_.sources == column.sources)
    // a column above a join has the sources of those below
    def isNested(sources: Seq[Set[Int]]) =
      sources.filter(overlap(_, column.sources)).combinations(2).exists(p => overlap(p(0), p(1)))
    val ofName = all.filter(_.name == column.name).map(_.sources)
    val isOther =
      if (named.isEmpty) continued.nonEmpty && found.nonEmpty
      else named.exists(_.sources.isEmpty) ||
      same.isEmpty && (isNested(named.map(_.sources)) || isNested(ofName))
    if (isOther) throw other(now, found)
    val earlier = all.takeWhile(_ ne column).count(_ == column)
    if (same.isEmpty) named else Seq(same(math.min(earlier, same.length - 1)))
  }

  /** The columns of operators with its sources of which the checkpoint does not tell the sources. */
  private def untold(column: Column): Seq[StoredWatermark] =
    operators.filter(o => overlap(places.before(o).flatten.toSet, column.sources))
      .flatMap(o => known(o.id)).filter(_.sources.isEmpty)

  /** The watermarks of the columns. One that is new in a union starts at that of the union. */
  private def raised(
      now: ChangedOperator,
      columns: Seq[Column],
      found: Seq[Seq[StoredWatermark]],
      continued: Option[Continued]
  ): Seq[Option[StoredWatermark]] = {
    val merged = columns.zip(found).map {
      case (column, Seq(w)) if w.sources.subsetOf(column.sources) => Some(w)
      case (_, some) => some.headOption.map(_.and(some.tail))
    }
    val own = continued.map(c => known(c.before.id))
    val kept = columns.indices.filter { i =>
      found(i).exists(w => own.forall(_.contains(w)) && isOfInput(w, columns(i), continued))
    }.toSet
    val base = WatermarkTable.base(merged)
    for (WatermarkPlan.Least(parts) <- WatermarkPlan.nodes(now.exec.watermarkPlans)) {
      val (before, added) = parts.partition { part =>
        WatermarkPlan.nodes(Seq(part)).exists {
          case WatermarkPlan.Base(i) => kept(i); case _ => false
        }
      }
      val least = before.map(_.eval(base)).minOption.getOrElse(Watermarks.Unknown)
      if (least != Watermarks.Unknown)
        for (i <- added.flatMap(plain(now, _))) base(i) = math.max(base(i), least)
    }
    columns.indices.map { i =>
      val before = merged(i).getOrElse(StoredWatermark.unknown(columns(i).name))
      if (base(i) == before.watermark) merged(i) else Some(before.startingAt(base(i)))
    }
  }

  /** The source columns of a part of a union that has their times. */
  private def plain(now: ChangedOperator, part: WatermarkPlan): Seq[Int] = part match {
    case WatermarkPlan.Base(i)      => Seq(i)
    case WatermarkPlan.Least(parts) => parts.flatMap(plain(now, _))
    case _ =>
      val what = "a part of a union is added whose event time is computed or that of a join"
      throw refuse("UNSUPPORTED_CHANGE", Seq("operator" -> now.name, "what" -> what))
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
        val change = StoredGroupColumns.change(before, groups.find(_.source == i))
        change.orElse(before.filterNot(_ => w.hasGroups).map(StoredGroupColumns.startAnew))
      }
    }
  }

  private def other(operator: ChangedOperator, before: Seq[StoredWatermark]) = refuse(
    "OTHER_EVENT_TIME",
    Seq(
      "operator" -> operator.name,
      "before" -> before.map(_.name).mkString(", "),
      "now" -> operator.exec.bases.map(_.name).mkString(", ")
    )
  )
}

private[evolve] object WatermarkTable {

  /**
   * A source column of a changed operator.
   *
   * @param input the index of its input
   * @param sources the places in the checkpoint of its sources, without new ones
   */
  private final case class Column(name: String, input: Int, sources: Set[Int])

  private def overlap(a: Set[Int], b: Set[Int]) = (a & b).nonEmpty

  /** The watermarks as an operator reads them. */
  def base(found: Seq[Option[StoredWatermark]]): Array[Long] =
    found.map(_.fold(Watermarks.Unknown)(_.watermark)).toArray
}
