package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.streamjoin.errors.StateErrors
import org.apache.spark.sql.streamjoin.logical.plan.analysis.ColumnOrigin
import org.json4s._
import org.json4s.JsonDSL._

/**
 * A column that an operator reads, with its origin.
 *
 * @param reader the text of the expression that reads it, or the number of its key
 * @param input the name of the input
 */
private[streamjoin] final case class StoredReference(
    reader: String,
    input: String,
    column: String,
    origin: ColumnOrigin
) {
  def text: String = s"$reader with $column of the $input input from ${origin.text}"

  /** Whether its reader is a text with columns. Keys, an order and a sequence are called so. */
  def isReadByText: Boolean = !reader.matches("(key \\d+|order|sequence)(, column \\d+)?")
}

/**
 * The columns by which an operator finds, matches and orders rows, as stored in its description.
 *
 * The other parts of the description name columns without their qualifiers. So above a join of `a`
 * and `b`, the keys `c.id = a.id` and `c.id = b.id` have the same text.
 */
private[streamjoin] object StoredReferences {

  /** Name of the part of the description. */
  val Part: String = "references"

  /**
   * The columns that expressions read.
   *
   * @param readers expressions, each with its text in the other parts or the number of its key
   * @param originOf the input and the origin of a column
   */
  def of(
      readers: Seq[(String, Expression)],
      originOf: Attribute => Option[(String, ColumnOrigin)]
  ): Seq[StoredReference] = readers.flatMap { case (reader, e) =>
    withPlaces(for {
      a <- e.collect { case a: Attribute => a }
      (input, origin) <- originOf(a)
    } yield StoredReference(reader, input, a.name, origin))
  }

  /**
   * The columns that one expression reads, in its order. Those that other columns have the name of
   * are stored with their places, too: `a.v - b.v` and `b.v - a.v` have the same columns.
   */
  def withPlaces(columns: Seq[StoredReference]): Seq[StoredReference] = {
    val named = columns.distinct.groupBy(c => (c.input, c.column))
    columns.distinct ++ columns.zipWithIndex.collect {
      case (c, i) if named((c.input, c.column)).length > 1 =>
        c.copy(reader = s"${c.reader}, column ${i + 1}")
    }
  }

  def part(references: Seq[StoredReference]): JObject =
    Part -> references.distinct.sortBy(_.text).map { r =>
      ("reader" -> r.reader) ~ ("input" -> r.input) ~ ("column" -> r.column) ~
        ("sources" -> r.origin.sources.toSeq.sorted) ~ ("number" -> r.origin.number) ~
        ("all" -> Some(r.origin.all.toSeq.sorted).filter(_ => r.origin.all != r.origin.sources))
    }

  /** The columns in a description; none if it does not have them. */
  def read(json: String): Option[Seq[StoredReference]] =
    JoinDescription.fields(json).get(Part).map(_.children.map { r =>
      def text(name: String) = JoinDescription.shown(r \ name)
      def places(name: String) = (r \ name).children.collect { case JInt(i) => i.toInt }.toSet
      val sources = places("sources")
      val number = (r \ "number").asInstanceOf[JInt].num.toInt
      StoredReference(
        text("reader"),
        text("input"),
        text("column"),
        ColumnOrigin(sources, number)(sources ++ places("all"))
      )
    })

  /**
   * Refuses a query that reads a column of another source.
   *
   * @param old stored description, in JSON. One without this part is accepted
   * @param now description of the query, in JSON
   */
  def requireSame(location: String, old: String, now: String): Unit =
    for {
      (before, after) <- read(old).zip(read(now))
      (was, is) = different(before, after) if was.nonEmpty || is.nonEmpty
    } throw StateErrors.otherQuery(
      location,
      "its condition, key, filter or event time has a column of another source",
      shown(was),
      shown(is)
    )

  /**
   * The columns of only one of two queries, without those of readers that are in one query only.
   * The other parts of the description are about these readers.
   */
  def different(
      before: Seq[StoredReference],
      now: Seq[StoredReference]
  ): (Seq[StoredReference], Seq[StoredReference]) = {
    val both = before.map(_.reader).intersect(now.map(_.reader)).toSet
    def read(by: Seq[StoredReference]) = by.distinct.filter(r => both(r.reader))
    val (was, is) = (read(before), read(now))
    (was.diff(is), is.diff(was))
  }

  private def shown(some: Seq[StoredReference]): String =
    if (some.isEmpty) "none" else some.map(_.text).mkString("; ")
}
