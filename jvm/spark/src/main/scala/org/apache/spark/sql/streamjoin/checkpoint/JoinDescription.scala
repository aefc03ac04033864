package org.apache.spark.sql.streamjoin.checkpoint

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.SessionZone
import org.apache.spark.sql.types.DataType
import org.json4s._
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.placement.Routing

/**
 * A time of a join as its rows have it stored.
 *
 * @param name with the side in front; several of one input that are called the same are numbered
 * @param dataType of its values; a window counts as its end
 */
private[streamjoin] final case class StoredTime(name: String, dataType: DataType)

/**
 * The time zone that something of a join depends on.
 *
 * @param id of the session's zone
 * @param stored the keys, and the times computed from one row, that other zones would give other
 *   values; where there are none, only what is proved of times may depend on the zone
 */
private[streamjoin] final case class DescribedZone(id: String, stored: Seq[String]) {

  def json: JObject = ("id" -> id) ~ ("stored" -> stored)
}

private[streamjoin] object DescribedZone {

  /**
   * @param stored what is stored: keys, and times computed from one row
   * @param bounds the zones that what is proved of times depends on
   * @param more what is stored and is written otherwise, and its zones
   * @return none where all is the same in every zone
   */
  def of(
      stored: Seq[Expression],
      bounds: Set[String],
      more: Seq[(String, Set[String])] = Nil
  ): Option[DescribedZone] = {
    val depending = stored.map(e => ColumnNames.sql(e) -> SessionZone.of(e)) ++ more
    val zones = bounds ++ depending.flatMap(_._2)
    Option.when(zones.nonEmpty) {
      DescribedZone(
        zones.toSeq.sorted.mkString(", "),
        depending.filter(_._2.nonEmpty).map(_._1).distinct
      )
    }
  }
}

/**
 * A join as it is written beside its state, in JSON.
 *
 * @param format the name of the [[StateFormat]]
 * @param version its number, which stands for everything in the checkpoint that is ours: this
 *   description, too
 * @param keys the equalities
 * @param sources where watermarks start, in the order in which they are stored
 * @param bounds all that follows from the condition, so that another way to write it is the same; each
 *   as a [[StoredBound]]
 * @param lookup for each side, the time by which a stored row is found
 * @param limits for each side, the times of the other side whose watermarks free a row, in the order
 *   of its stored limits
 * @param times the times of both sides, each with what the person called it; nothing is compared
 * @param zone the time zone, where something depends on it
 * @param changelog of a changelog join, how the rows of each side are told apart; none: the join is by
 *   event time
 * @param asOf of an as-of join, which of the last rows each row meets; none: it meets all in its bounds
 * @param condition of a changelog join, all conjuncts but the keys: what came out by them is taken back by
 *   them
 * @param inputs of a changelog join, the filters of each input that has changes, and what its columns are computed
 *   of
 * @param filters of a changelog join, the filters of its result that rows of its inputs must pass to be kept; none:
 *   all are
 * @param aliases of a changelog join, what the person called its inputs; nothing is compared. Those of
 *   other joins stand in `times`
 */
private[streamjoin] final case class JoinDescription(
    format: String,
    version: Int,
    joinType: JoinType,
    routing: Routing,
    keys: Seq[String],
    sources: Seq[String],
    bounds: Seq[String],
    lookup: Map[Side, StoredTime],
    limits: Map[Side, Seq[StoredTime]],
    times: Seq[(StoredTime, String)],
    zone: Option[DescribedZone],
    changelog: Option[Seq[String]] = None,
    asOf: Option[String] = None,
    condition: Option[Seq[String]] = None,
    inputs: Option[Seq[String]] = None,
    filters: Option[Seq[String]] = None,
    aliases: Map[Side, String] = Map.empty
) {

  def json: String = {
    val fields: JObject =
      ("format" -> format) ~
        ("version" -> version) ~
        ("joinType" -> joinType.name) ~
        ("routing" -> routing.name) ~
        ("buckets" -> buckets) ~
        ("keys" -> keys) ~
        ("sources" -> sources) ~
        ("bounds" -> bounds) ~
        ("lookup" -> bySide(lookup(_))(written)) ~
        ("limits" -> bySide(limits(_))(times => JArray(times.map(written).toList))) ~
        ("times" -> times.map { case (time, said) => written(time) ~ ("said" -> said) }) ~
        ("zone" -> zone.map(_.json)) ~
        ("changelog" -> changelog) ~
        ("asOf" -> asOf) ~
        ("condition" -> condition) ~
        ("inputs" -> inputs) ~
        ("filters" -> filters) ~
        (JoinDescription.Aliases -> Option.when(aliases.nonEmpty)(aliases.map { case (s, a) =>
          s.name -> a
        }))
    compact(render(fields))
  }

  private def buckets: Option[JObject] = Some(routing).collect { case Routing.ByTime(_, b) =>
    StoredBuckets.json(b)
  }

  private def bySide[T](of: Side => T)(json: T => JValue): JObject =
    JObject(Side.both.map(side => JField(side.name, json(of(side)))).toList)

  private def written(time: StoredTime): JObject =
    ("name" -> time.name) ~ ("type" -> time.dataType.typeName)
}

private[streamjoin] object JoinDescription {

  /** The operator's name in progress reports and in the state's metadata. */
  val Operator: String = "streamJoin"

  /** The part with what the person called the inputs. */
  private[checkpoint] val Aliases: String = "aliases"

  /** What stands in the place of the bounds where these contradict each other. */
  val Contradiction: String = "no two rows can match"

  /** What was written under the version of this code. */
  def read(json: String): JoinDescription = {
    val all = fields(json)
    JoinDescription(
      text(all("format")),
      version(json).getOrElse(0),
      JoinType.all.find(_.name == text(all("joinType"))).get,
      routing(all).get,
      texts(all("keys")),
      texts(all("sources")),
      texts(all("bounds")),
      Side.both.map(s => s -> storedTime(all("lookup") \ s.name)).toMap,
      Side.both.map(s => s -> (all("limits") \ s.name).children.map(storedTime)).toMap,
      times(json),
      zone(json),
      all.get("changelog").map(texts),
      all.get("asOf").map(text),
      all.get("condition").map(texts),
      all.get("inputs").map(texts),
      all.get("filters").map(texts),
      Side.both.flatMap { side =>
        all.get(Aliases).map(_ \ side.name).collect { case JString(alias) => side -> alias }
      }.toMap
    )
  }

  /** How the rows of a join lie in its partitions; none where the code of this version does not know it. */
  def routing(json: String): Option[Routing] = routing(fields(json))

  private def routing(all: Map[String, JValue]): Option[Routing] = {
    val name = all.get("routing").collect { case JString(name) => name }
    name.flatMap(n => Routing.named.find(_.name == n)).orElse {
      for {
        Routing.ByTime.Name <- name
        JString(joinType) <- all.get("joinType")
        of <- JoinType.all.find(_.name == joinType)
        b <- all.get("buckets")
      } yield Routing.ByTime(Routing.single(of), StoredBuckets.read(b))
    }
  }

  def format(json: String): Option[String] = fields(json).get("format").collect { case JString(f) =>
    f
  }

  def version(json: String): Option[Int] = fields(json).get("version").collect { case JInt(v) =>
    v.toInt
  }

  /** Which rows of the inputs are kept; none in what was written before they were chosen. */
  def filters(json: String): Seq[String] = fields(json).get("filters").toSeq.flatMap(texts)

  /** None in what was written before times were. */
  def times(json: String): Seq[(StoredTime, String)] =
    fields(json).get("times").toSeq.flatMap(_.children).map(t => storedTime(t) -> text(t \ "said"))

  /** None, too, in what was written before it was. */
  def zone(json: String): Option[DescribedZone] = fields(json).get("zone").collect {
    case z: JObject => DescribedZone(text(z \ "id"), texts(z \ "stored"))
  }

  /** The parts of a description, whatever wrote it. */
  def fields(json: String): Map[String, JValue] = Try(parse(json)).toOption match {
    case Some(JObject(fields)) => fields.filterNot(_._2 == JNothing).toMap
    case _                     => Map.empty
  }

  /** A description with the parts that all operators have. */
  def and(json: String, more: JObject): String = parse(json) match {
    case own: JObject => compact(render(own ~ more))
    case _            => throw new IllegalArgumentException(s"no description, but $json")
  }

  /** A part of a description as it is shown. */
  def shown(value: JValue): String = value match {
    case JString(text)  => text
    case JArray(values) => values.map(shown).mkString(", ")
    case other          => compact(render(other))
  }

  private def text(value: JValue): String = value.asInstanceOf[JString].s

  private def texts(value: JValue): Seq[String] = value.children.map(text)

  private def storedTime(value: JValue): StoredTime =
    StoredTime(text(value \ "name"), DataType.fromJson(compact(render(value \ "type"))))
}
