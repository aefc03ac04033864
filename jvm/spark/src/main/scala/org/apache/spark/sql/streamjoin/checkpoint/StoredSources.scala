package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinRuntimeException}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.InputSource
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
 * description changes when the query exchanges them. Spark finds the offsets of a source by its
 * place in the query, so a query with its sources in another order is refused, too.
 */
private[streamjoin] object StoredSources {

  /** Name of the part of the description. */
  val Part: String = "origins"

  /**
   * The names and the locations of the sources of each input, in the order of the query.
   *
   * @param sources by the names of the inputs
   */
  def part(sources: Seq[(String, Seq[InputSource])]): JObject =
    Part -> JObject(sources.map { case (input, of) =>
      JField(input, of.map(s => ("name" -> s.name) ~ ("at" -> s.locations)))
    }.toList)

  /**
   * Refuses a query in which a source has moved from one input to another, or to another place in
   * the order by which Spark finds offsets. A source that the checkpoint does not contain is
   * accepted. So is a source that a second input reads as well.
   *
   * @param location path of the state
   * @param written stored description of each operator
   * @param described description of each operator of the query
   * @param byName whether Spark finds the offsets of sources by their names
   */
  def requireInPlace(
      location: String,
      written: Map[Long, String],
      described: Map[Long, String],
      byName: Boolean
  ): Unit = {
    val (before, now) = (inputs(written), inputs(described))
    // a query in which only one run has names is compared by locations
    val named = Seq(before, now).forall(_.forall(_.sources.forall(_.name.nonEmpty)))
    def sets(inputs: Seq[Input]) = inputs.map(i => i.place -> ids(i.sources, named).toSet).toMap
    moved(sets(before), sets(now)).foreach(m => throw exchange(location, m, before, now))
    if (!byName) {
      for (operator <- before.map(_.place.operator).distinct.sorted) {
        val (was, is) = (ordered(before, operator), ordered(now, operator))
        shifted(was.map(s => ids(Seq(s), named)), is.map(s => ids(Seq(s), named)))
          .foreach(s => throw otherOrder(location, operator, s, before, now))
      }
    }
    val (was, is) = (columns(before, written, named), columns(now, described, named))
    moved(was, is).foreach(m => throw otherColumn(location, m, was, is))
  }

  /** The sources of each source column of the operators, as far as they are stored. */
  private def columns(
      of: Seq[Input],
      descriptions: Map[Long, String],
      named: Boolean
  ): Map[InputPlace, Set[String]] = (for {
    (operator, json) <- descriptions.toSeq
    sources = ordered(of, operator)
    (column, i) <- StoredBases.read(json).getOrElse(Nil).zipWithIndex
  } yield InputPlace(operator, s"column ${i + 1}") ->
    ids(column.toSeq.flatMap(sources.lift(_)), named).toSet).toMap

  private def ids(of: Seq[InputSource], named: Boolean): Seq[String] =
    of.flatMap(s => if (named) s.identities else s.locations)

  /** An input of a description, with its sources in the order of the query. */
  private final case class Input(place: InputPlace, sources: Seq[InputSource])

  private def inputs(descriptions: Map[Long, String]): Seq[Input] = for {
    (operator, json) <- descriptions.toSeq.sortBy(_._1)
    (input, sources) <- read(json)
  } yield Input(InputPlace(operator, input), sources)

  /** The sources of each input in a description; none if it does not have them. */
  def read(json: String): Seq[(String, Seq[InputSource])] = for {
    JObject(inputs) <- JoinDescription.fields(json).get(Part).toSeq
    (input, sources) <- inputs
  } yield input -> sources.children.map(source)

  private def source(json: JValue): InputSource = InputSource(
    Option(json \ "name").collect { case JString(name) => name },
    (json \ "at").children.map(JoinDescription.shown)
  )

  /** The sources of an operator in the order of the query; empty if those of an input are unknown. */
  private def ordered(inputs: Seq[Input], operator: Long): Seq[InputSource] = {
    val own = inputs.filter(_.place.operator == operator)
    if (own.forall(_.sources.nonEmpty)) own.flatMap(_.sources) else Nil
  }

  /** A source that another input reads than before. */
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

  /** A source with another index in the order of the query. */
  private[checkpoint] final case class Shifted(source: String, from: Int, to: Int)

  /** @param before the identities of each source in order; likewise `now` */
  private[checkpoint] def shifted(
      before: Seq[Seq[String]],
      now: Seq[Seq[String]]
  ): Option[Shifted] = {
    def places(of: Seq[Seq[String]], id: String) = of.indices.filter(of(_).contains(id))
    val found = for {
      id <- before.flatten.distinct
      (was, is) = (places(before, id), places(now, id))
      from <- was.diff(is).headOption
      to <- is.diff(was).headOption
    } yield Shifted(id, from, to)
    found.headOption
  }

  private def exchange(
      location: String,
      m: Moved,
      before: Seq[Input],
      now: Seq[Input]
  ): StreamJoinRuntimeException = {
    val one = m.from.operator == m.to.operator
    def called(p: InputPlace) =
      if (one) s"the ${p.name} input" else s"the ${p.name} input of operator ${p.operator}"
    val concerned =
      if (one) before.map(_.place).filter(_.operator == m.from.operator)
      else Seq(m.from, m.to)
    StateErrors.otherQuery(
      location,
      s"its inputs were exchanged: ${m.source} was read by ${called(m.from)} and is now read by " +
        called(m.to),
      shown(before, concerned, called),
      shown(now, concerned, called),
      instead = Instead
    )
  }

  private def otherOrder(
      location: String,
      operator: Long,
      s: Shifted,
      before: Seq[Input],
      now: Seq[Input]
  ): StreamJoinRuntimeException = {
    val concerned = before.map(_.place).filter(_.operator == operator)
    def called(p: InputPlace) = if (concerned.length == 1) "the input" else s"the ${p.name} input"
    StateErrors.otherQuery(
      location,
      "its sources have another order, and Spark finds their offsets by this order: " +
        s"${s.source} was number ${s.from + 1} and is now number ${s.to + 1}",
      shown(before, concerned, called),
      shown(now, concerned, called),
      instead =
        "Restore the order of the sources, or start the query with a new checkpoint location"
    )
  }

  private def otherColumn(
      location: String,
      m: Moved,
      before: Map[InputPlace, Set[String]],
      now: Map[InputPlace, Set[String]]
  ): StreamJoinRuntimeException = {
    def shown(of: Map[InputPlace, Set[String]]) = of.toSeq
      .filter(_._1.operator == m.to.operator).sortBy(_._1.name)
      .map { case (column, from) => s"${column.name} of ${from.toSeq.sorted.mkString(", ")}" }
      .mkString("; ")
    StateErrors.otherQuery(
      location,
      s"its watermarks would be those of other sources: ${m.source} had the watermark of event-time " +
        s"${m.from.name} and would have that of ${m.to.name}",
      shown(before),
      shown(now)
    )
  }

  private def shown(
      inputs: Seq[Input],
      concerned: Seq[InputPlace],
      called: InputPlace => String
  ): String = concerned.map { place =>
    val sources = inputs.filter(_.place == place).flatMap(_.sources)
    s"${called(place)} from ${sources.map(_.identities.mkString(", ")).mkString(", ")}"
  }.mkString("; ")

  private val Instead =
    "Restore the inputs, or start the query with a new checkpoint location. If you only renamed " +
      "the sources, give them names that the checkpoint does not contain"
}
