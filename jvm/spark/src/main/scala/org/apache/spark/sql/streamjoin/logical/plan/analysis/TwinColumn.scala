package org.apache.spark.sql.streamjoin.logical.plan.analysis

/**
 * A column of a source.
 *
 * @param source the place of the source among those of an input or of a query
 */
private[streamjoin] final case class ColumnOrigin(source: Int, column: String)

/**
 * A column that shares its name with another column of its input, such as `id` above a join.
 *
 * @param from the columns of sources from which it is computed; empty: they are not known
 * @param number its number, from 1, among the columns of its name that are computed from these
 */
private[streamjoin] final case class TwinColumn(from: Set[ColumnOrigin], number: Int) {

  /** Such as `id of source 2`. It differs from the texts of the other columns of this name. */
  def text: String = {
    val columns = from.toSeq.sortBy(o => (o.source, o.column))
      .map(o => s"${o.column} of source ${o.source + 1}")
    val computed = if (columns.isEmpty) "computed" else columns.mkString(" and ")
    if (number == 1) computed else s"$computed, number $number"
  }
}
