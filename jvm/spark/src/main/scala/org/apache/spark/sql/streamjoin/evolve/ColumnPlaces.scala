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

  /** The columns of sources that a column is computed from, if the checkpoint tells them. */
  def originsOf(column: Int): Option[Set[ColumnOrigin]] =
    StoredColumns.twinOf(rows(column)).map(_.from)
      .filter(_.forall(o => sources.isDefinedAt(o.source)))
      .map(_.map(o => o.copy(source = sources(o.source))))
}

/**
 * Where the columns of the changed query are from.
 *
 * @param of the columns of sources that a column is computed from, as far as they are known. A source
 *   has its place in the checkpoint
 */
private[evolve] final class PlacedOrigins(val of: Attribute => Set[ColumnOrigin]) {

  /** The place of the only source of a column. */
  def sourceOf(column: Attribute): Option[Int] =
    Some(of(column).map(_.source)).filter(_.size == 1).map(_.head)
}

/**
 * Finds the columns of the changed query in the stored rows, by their names. Above a join, columns of
 * both inputs may have one name: then by the columns of the sources from which they are.
 *
 * @param now the columns of the changed rows
 * @param placesNow the places in the checkpoint of the sources of the changed rows
 * @param renamed the new name of an old column
 * @param same whether two names are equal
 */
private[evolve] final class ColumnPlaces(
    stored: StoredInput,
    now: Seq[Attribute],
    placesNow: Seq[Int],
    origins: PlacedOrigins,
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
    val twins =
      now.filter(c => same(c.name, column.name) && !origins.sourceOf(c).contains(SourceMap.New))
    val told = named.flatMap(at => stored.originsOf(at).map(at -> _))
    if (named.isEmpty || origins.sourceOf(column).contains(SourceMap.New)) None
    else if (told.length == named.length && told.forall(_._2.nonEmpty)) among(told, column, twins)
    else if (named.length == twins.length && !(named.length > 1 && areExchanged))
      named.lift(twins.indexWhere(_.exprId == column.exprId))
    else throw ambiguous(column)
  }

  /** Whether a column keeps this name, of those of several inputs of which one is renamed. */
  private def keepsName(name: String): Boolean =
    rows.count(f => same(f.name, name)) > now.count(c => same(c.name, renamed(name)))

  private def areExchanged: Boolean = {
    val kept = placesNow.filter(places.contains)
    kept != kept.sortBy(places.indexOf)
  }

  /**
   * The place of a column, if the checkpoint tells from which columns of sources the stored ones are.
   * A column of a source may have another name now.
   *
   * @param told the stored columns of its name
   * @param twins those of the changed query
   */
  private def among(
      told: Seq[(Int, Set[ColumnOrigin])],
      column: Attribute,
      twins: Seq[Attribute]
  ): Option[Int] = {
    def by[K](key: Set[ColumnOrigin] => K) = {
      val own = key(origins.of(column))
      (told.filter(t => key(t._2) == own).map(_._1), twins.filter(c => key(origins.of(c)) == own))
    }
    val (equal, equalNow) = by(identity)
    val (near, nearNow) = by(_.map(_.source))
    if (near.isEmpty) None
    else if (equal.nonEmpty && equal.length == equalNow.length)
      Some(equal(equalNow.indexWhere(_.exprId == column.exprId)))
    else if (near.length == 1 && nearNow.length == 1) Some(near.head)
    else throw ambiguous(column)
  }

  private def ambiguous(column: Attribute) =
    refuse("AMBIGUOUS_COLUMN", Seq("column" -> column.name))
}
