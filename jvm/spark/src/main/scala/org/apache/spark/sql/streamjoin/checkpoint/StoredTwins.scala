package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.streamjoin.errors.StateErrors
import org.json4s._
import org.json4s.JsonDSL._

/**
 * The expressions of an operator that read a column which shares its name with another one of its
 * input, as stored in the operator's description.
 *
 * The other parts of the description name columns without their qualifiers. So above a join of `a`
 * and `b`, the keys `c.id = a.id` and `c.id = b.id` have the same text.
 */
private[streamjoin] object StoredTwins {

  /** Name of the part of the description. */
  val Part: String = "twins"

  def part(texts: Seq[String]): JObject = Part -> texts

  /**
   * @param expressions each with its text in the other parts, or the number of its key
   * @param originOf a text that distinguishes a column from those of the same name
   */
  def texts(
      expressions: Seq[(String, Expression)],
      originOf: Attribute => Option[String]
  ): Seq[String] = {
    val told = for ((text, e) <- expressions if e.references.exists(originOf(_).nonEmpty)) yield {
      val names = e.references.toSeq.flatMap(a => originOf(a).map(o => s"${a.name} is $o"))
      s"$text, where ${names.sorted.mkString(", ")}"
    }
    told.distinct.sorted
  }

  /** The expressions in a description; none if it does not have them. */
  def read(json: String): Option[Seq[String]] =
    JoinDescription.fields(json).get(Part).map(_.children.map(JoinDescription.shown))

  /**
   * Refuses a query that reads another column of the same name.
   *
   * @param old stored description, in JSON. One without this part is accepted
   * @param now description of the query, in JSON
   */
  def requireSame(location: String, old: String, now: String): Unit =
    for (before <- read(old); after <- read(now) if before != after) throw StateErrors.otherQuery(
      location,
      "its condition, key or event time has another column of the same name",
      shown(before.diff(after)),
      shown(after.diff(before))
    )

  private def shown(expressions: Seq[String]): String =
    if (expressions.isEmpty) "none" else expressions.mkString("; ")
}
