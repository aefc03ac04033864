package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.streamjoin.checkpoint.StoredColumns
import org.apache.spark.sql.streamjoin.logical.plan.analysis.ColumnOrigin
import org.apache.spark.sql.types.StructType

/**
 * The stored rows of one input.
 *
 * @param sources the places in the checkpoint of its sources
 * @param places those of the sources whose columns the rows may have
 */
private[evolve] final case class StoredInput(
    rows: StructType,
    sources: Seq[Int],
    places: Seq[Int]
) {

  /** Where a column is from, in places in the checkpoint, if the checkpoint tells it. */
  def originOf(column: Int): Option[ColumnOrigin] =
    StoredColumns.originOf(rows(column)).map(ColumnPlaces.placed(_, sources))
}

/**
 * An input of the changed query.
 *
 * @param columns the columns of its rows
 * @param sources the places in the checkpoint of its sources; `SourceMap.New` for new ones
 * @param originOf where a column is from
 */
private[evolve] final case class ChangedInput(
    columns: Seq[Attribute],
    sources: Seq[Int],
    originOf: Attribute => Option[ColumnOrigin]
) {

  /** Where a column is from, in places in the checkpoint. */
  def placed(column: Attribute): ColumnOrigin =
    ColumnPlaces.placed(originOf(column).getOrElse(ColumnOrigin(Set.empty, 1)()), sources)

  /** The place of the only source of a column, of a union that of its first branch. */
  def sourceOf(column: Attribute): Option[Int] =
    Some(placed(column).sources).filter(_.size == 1).map(_.head)
}

/**
 * Finds the columns of the changed query in the stored rows: by their names, and those of one name
 * by their sources.
 *
 * @param renamed the new name of an old column
 * @param same whether two names are equal
 */
private[evolve] final class ColumnPlaces(
    stored: StoredInput,
    changed: ChangedInput,
    renamed: String => String,
    same: (String, String) => Boolean,
    refuse: (String, Seq[(String, String)]) => Throwable
) {
  import stored.{places, rows}

  /** The place of a column in the stored rows; none: it is added. */
  def of(column: Attribute): Option[Int] = {
    val named = rows.indices.filter { at =>
      val name = rows(at).name
      same(renamed(name), column.name) || same(name, column.name) && keepsName(name)
    }
    val origin = changed.placed(column)
    val others = changed.columns.filter(c => same(c.name, column.name) && !isNew(c))
    val told = named.flatMap(stored.originOf)
    val isTold = told.length == named.length
    val equal = named.filter(stored.originOf(_).exists(_.isLike(origin)))
    // in their order, those of the same sources or all
    val (from, to) =
      if (isTold && equal.nonEmpty)
        (
          equal,
          others.filter(c => equal.flatMap(stored.originOf).exists(_.isLike(changed.placed(c))))
        )
      else (named, others)
    val isKnown = named.length == 1 || (if (isTold) equal.nonEmpty else !areExchanged)
    if (named.isEmpty || isNew(column) || isTold && told.forall(o => areOther(o.all, origin.all)))
      None
    else if (isKnown && from.length == to.length)
      Some(from(to.indexWhere(_.exprId == column.exprId)))
    else throw refuse("AMBIGUOUS_COLUMN", Seq("column" -> column.name))
  }

  private def isNew(column: Attribute) = {
    val origin = changed.placed(column)
    origin.sources.nonEmpty && origin.all.isEmpty
  }

  private def areOther(a: Set[Int], b: Set[Int]) =
    a.nonEmpty && b.nonEmpty && a.intersect(b).isEmpty

  /** Whether a column keeps this name, of those of several inputs of which one is renamed. */
  private def keepsName(name: String): Boolean =
    rows.count(f => same(f.name, name)) > changed.columns.count(c => same(c.name, renamed(name)))

  private def areExchanged: Boolean = {
    val kept = changed.sources.filter(places.contains)
    kept != kept.sortBy(places.indexOf)
  }
}

private[evolve] object ColumnPlaces {

  /** An origin in places in the checkpoint. No stored row has a value of a new source. */
  def placed(origin: ColumnOrigin, places: Seq[Int]): ColumnOrigin = {
    def of(sources: Set[Int]) = sources.flatMap(i => places.lift(i))
    ColumnOrigin(of(origin.sources), origin.number)(of(origin.all) - SourceMap.New)
  }
}
