package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinRuntimeException}
import org.json4s._
import org.json4s.JsonDSL._

/**
 * An input of a stateful operator.
 *
 * @param name `left` or `right` of a join, `input` of an ordered output
 */
private[streamjoin] final case class InputPlace(operator: Long, name: String)

/**
 * The sources of each input, as stored in the operator's description.
 *
 * The state buffers rows by input. If two inputs differ only in their sources, no other part of the
 * description changes when the query exchanges them.
 */
private[streamjoin] object StoredSources {

  /** Name of the part of the description. */
  val Part: String = "origins"

  /** @param sources by the names of the inputs */
  def part(sources: Seq[(String, Seq[String])]): JObject =
    Part -> JObject(sources.map { case (input, names) => JField(input, names) }.toList)

  /**
   * Refuses a query in which a source has moved from one input to another. A source that the
   * checkpoint does not contain is accepted. So is a source that a second input reads as well.
   *
   * @param location path of the state
   * @param written stored description of each operator
   * @param described description of each operator of the query
   */
  def requireInPlace(
      location: String,
      written: Map[Long, String],
      described: Map[Long, String]
  ): Unit = {
    val (before, now) = (sources(written), sources(described))
    moved(before, now).foreach(m => throw refusal(location, m, before, now))
  }

  /** Sources by input. Descriptions of earlier versions have none. */
  private def sources(descriptions: Map[Long, String]): Map[InputPlace, Set[String]] = for {
    (operator, json) <- descriptions
    JObject(inputs) <- JoinDescription.fields(json).get(Part).toSeq
    (input, names) <- inputs
  } yield InputPlace(operator, input) -> names.children.map(JoinDescription.shown).toSet

  /** A source that has moved from one input to another. */
  private[checkpoint] final case class Moved(source: String, from: InputPlace, to: InputPlace)

  private[checkpoint] def moved(
      before: Map[InputPlace, Set[String]],
      now: Map[InputPlace, Set[String]]
  ): Option[Moved] = {
    val known = before.keys.toSeq.sortBy(p => (p.operator, p.name)).filter { place =>
      before(place).nonEmpty && now.get(place).exists(_.nonEmpty)
    }
    val found = for {
      to <- known
      source <- (now(to) -- before(to)).toSeq.sorted
      from <- known if before(from)(source) && !now(from)(source)
    } yield Moved(source, from, to)
    found.headOption
  }

  private def refusal(
      location: String,
      m: Moved,
      before: Map[InputPlace, Set[String]],
      now: Map[InputPlace, Set[String]]
  ): StreamJoinRuntimeException = {
    val one = m.from.operator == m.to.operator
    def called(p: InputPlace) =
      if (one) s"the ${p.name} input" else s"the ${p.name} input of operator ${p.operator}"
    val concerned =
      if (one) before.keys.filter(_.operator == m.from.operator).toSeq.sortBy(_.name)
      else Seq(m.from, m.to)
    def shown(sources: Map[InputPlace, Set[String]]) = concerned.map { p =>
      s"${called(p)} from ${sources.getOrElse(p, Set.empty).toSeq.sorted.mkString(", ")}"
    }.mkString("; ")
    StateErrors.incompatibleCheckpoint(
      location,
      s"its inputs were exchanged: ${m.source} was read by ${called(m.from)} and is now read by " +
        called(m.to),
      shown(before),
      shown(now),
      instead = Instead
    )
  }

  private val Instead =
    "Restore the inputs as they were, or start the query with a new checkpoint location. If only " +
      "names were exchanged, give the sources names that the checkpoint does not contain"
}
