package org.apache.spark.sql.streamjoin.checkpoint

import org.json4s._
import org.json4s.JsonDSL._

/**
 * The sources of each source column, as stored in the operator's description.
 *
 * A column with an order above a union has several sources. Several columns may have one source.
 * So the number of a column does not tell its sources.
 *
 * {{{
 *   a.union(b).imposeOrder("t")  JOIN  c.imposeOrder("t")    [[0, 1], [2]]
 * }}}
 */
private[streamjoin] object StoredBases {

  /** Name of the part of the description. */
  val Part: String = "bases"

  /** @param sources the places among the sources of the operator; empty: not known */
  def part(sources: Seq[Set[Int]]): JObject = Part -> sources.map(_.toSeq.sorted)

  /** Those in a description; none if it does not have them. */
  def read(json: String): Option[Seq[Set[Int]]] =
    JoinDescription.fields(json).get(Part).map(_.children.map { sources =>
      sources.children.collect { case JInt(i) => i.toInt }.toSet
    })
}
