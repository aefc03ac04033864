package org.apache.spark.sql.streamjoin.checkpoint

import org.json4s._
import org.json4s.JsonDSL._

/**
 * The groups of a source column, as stored in the description of an operator.
 *
 * @param source the number of the source column
 * @param column its name
 * @param time its display name as a time of the operator; none if it is not one
 * @param per the names of the columns of the groups
 */
private[streamjoin] final case class StoredGroupColumns(
    source: Int,
    column: String,
    time: Option[String],
    per: Seq[String],
    idleTimeoutMs: Option[Long]
)

/**
 * The part of a description with the groups of all source columns. It is not compared: a query may
 * change its groups at each restart.
 */
private[streamjoin] object StoredGroupColumns {

  /** Name of the part; absent if no source column has groups. */
  val Part: String = "per"

  def part(groups: Seq[StoredGroupColumns]): JObject =
    Part -> Option.when(groups.nonEmpty)(groups.map { g =>
      ("source" -> g.source) ~ ("column" -> g.column) ~ ("time" -> g.time) ~
        ("columns" -> g.per) ~ ("idleTimeoutMs" -> g.idleTimeoutMs)
    })

  def read(json: String): Seq[StoredGroupColumns] = for {
    JArray(groups) <- JoinDescription.fields(json).get(Part).toSeq
    g <- groups
    JInt(source) <- Seq(g \ "source")
    JString(column) <- Seq(g \ "column")
  } yield StoredGroupColumns(
    source.toInt,
    column,
    Some(g \ "time").collect { case JString(time) => time },
    (g \ "columns").children.map(JoinDescription.shown),
    Some(g \ "idleTimeoutMs").collect { case JInt(ms) => ms.toLong }
  )

  /**
   * The changes of the groups between two descriptions of an operator, each in a sentence with its
   * effect.
   */
  def changes(written: String, now: String): Seq[String] = {
    val (before, after) = (read(written), read(now))
    (before ++ after).map(_.source).distinct.sorted.flatMap { source =>
      change(before.find(_.source == source), after.find(_.source == source))
    }
  }

  /** The change of the groups of one source column, in a sentence. */
  def change(
      before: Option[StoredGroupColumns],
      now: Option[StoredGroupColumns]
  ): Option[String] = (before, now) match {
    case (None, Some(added)) => Some(
        s"per = ${names(added)} was added to ${added.column}. Its watermark continues, and " +
          "each group starts at it"
      )
    case (Some(removed), None) => Some(
        s"per = ${names(removed)} was removed from ${removed.column}. Its watermark continues, " +
          "and from now on follows the largest time of all rows: rows of a slow group are late"
      )
    case (Some(was), Some(is)) if was.per != is.per =>
      Some(
        s"per = ${names(was)} of ${is.column} was changed to ${names(is)}. Its watermark " +
          "continues, and each new group starts at it"
      )
    case _ => None
  }

  /** The change of the groups of a source column that has lost some of its sources. */
  def startAnew(groups: StoredGroupColumns): String =
    s"per = ${names(groups)} of ${groups.column} has other sources. Its watermark continues, and " +
      "each group starts at it"

  private def names(of: StoredGroupColumns): String = of.per.mkString("[", ", ", "]")
}
