package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks.{Checksum, RowStream}

/**
 * Columns that a query selects, as `b.price`: their text, and their values for the reference.
 *
 * @param inputs by their aliases in the query
 */
private[workloads] final class Selection(inputs: (String, RowStream)*)(columns: String*)
    extends Serializable {

  private val read = columns.map { column =>
    val dot = column.indexOf('.')
    val place = inputs.indexWhere(_._1 == column.take(dot))
    (place, inputs(place)._2.indexOf(column.drop(dot + 1)))
  }.toArray

  /** With their aliases, so that no two columns have one name. */
  val names: Seq[String] = columns.map(_.replace('.', '_'))

  /** As `b.price AS b_price`. */
  def sql: String = columns.zip(names).map { case (c, name) => s"$c AS $name" }.mkString(", ")

  /** Adds a row of the result. @param rows of the inputs */
  def add(result: Checksum, rows: Long*): Unit = {
    for ((place, column) <- read) result.add(inputs(place)._2.value(rows(place), column))
    result.end()
  }
}
