package org.apache.spark.sql.streamjoin.logical.plan.analysis

/**
 * Where a column of an input is from. Above a join of `a` and `b`, it tells `a.id` from `b.id`.
 *
 * @param sources the places of the sources of its values among those of the input; empty: not known
 * @param number its number, from 1, among the columns of its name with these sources
 */
private[streamjoin] final case class ColumnOrigin(sources: Set[Int], number: Int) {

  /** Such as `source 2`. */
  def text: String = {
    val from = sources.toSeq.sorted.map(i => s"source ${i + 1}")
    val known = if (from.isEmpty) "no known source" else from.mkString(" and ")
    if (number == 1) known else s"$known, number $number"
  }
}
