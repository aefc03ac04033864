package org.apache.spark.sql.streamjoin.logical.plan.analysis

/**
 * Where a column of an input is from. Above a join of `a` and `b`, it tells `a.id` from `b.id`.
 *
 * @param sources the places of the sources of its values among those of the input, of a union those
 *   of its first branch; empty: not known
 * @param number its number, from 1, among the columns of its name with these sources
 * @param all the sources of all branches. A restart may add a named one, so they are not compared
 */
private[streamjoin] final case class ColumnOrigin(sources: Set[Int], number: Int)(
    val all: Set[Int] = sources
) {

  /** Such as `source 2`. */
  def text: String = {
    val from = sources.toSeq.sorted.map(i => s"source ${i + 1}")
    val known = if (from.isEmpty) "no known source" else from.mkString(" and ")
    if (number == 1) known else s"$known, number $number"
  }

  /** Whether it is the origin of one column, also if a union has other or exchanged branches. */
  def isLike(other: ColumnOrigin): Boolean = all == other.all ||
    sources.size == 1 && other.sources.size == 1 && (all & other.all).nonEmpty
}
