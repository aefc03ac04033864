package org.apache.spark.sql.streamjoin.checkpoint

import scala.collection.immutable.ListMap
import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.SessionZone
import org.apache.spark.sql.streamjoin.errors.StateErrors
import org.apache.spark.sql.types.DataType
import org.json4s._
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

import io.streamjoin.model.{BySide, JoinType, Side}
import io.streamjoin.placement.Routing

/**
 * A time of a join, as stored with its rows.
 *
 * @param name expression with its side in front. Equal names of one input are numbered
 * @param dataType type of its values. A window counts as its end
 */
private[streamjoin] final case class StoredTime(name: String, dataType: DataType)

/**
 * The time zone on which parts of a join depend.
 *
 * @param id ID of the session time zone
 * @param stored keys and computed times whose stored values depend on the zone. If empty, only
 *   derived bounds may depend on it
 */
private[streamjoin] final case class DescribedZone(id: String, stored: Seq[String]) {

  def json: JObject = ("id" -> id) ~ ("stored" -> stored)
}

private[streamjoin] object DescribedZone {

  /**
   * Finds the time zones on which a join depends.
   *
   * @param stored stored expressions: keys, and times computed from one row
   * @param bounds zones on which the derived bounds depend
   * @param more names of further stored values, each with its zones
   * @return none if nothing depends on a time zone
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
 * Event times of a join.
 *
 * @param sources event-time columns with a watermark, in the order in which these are stored
 * @param bounds all derived bounds, each as a [[StoredBound]]. They are the same for each way to
 *   write the condition
 * @param lookup for each side, the time by which a buffered row is probed
 * @param limits for each side, the times of the other side whose watermarks evict a row, in the
 *   order of its stored limits
 * @param said times of both sides, each with its display name. Not compared
 */
private[streamjoin] final case class DescribedTimes(
    sources: Seq[String],
    bounds: Seq[String],
    lookup: BySide[StoredTime],
    limits: BySide[Seq[StoredTime]],
    said: Seq[(StoredTime, String)]
)

/** Kind of a join, with the parts of its description that other kinds do not have. */
private[streamjoin] sealed trait DescribedKind

private[streamjoin] object DescribedKind {
  case object EventTime extends DescribedKind

  /** @param which which rows match */
  final case class AsOf(which: String) extends DescribedKind

  /** In a text of [[AsOf]], between these is the sequence of the versions. */
  val LastBy: String = ", of one time the last by "
  val UpTo: String = ", up to "

  /**
   * @param identity row identity of each side
   * @param condition all conjuncts except the keys. A row is retracted by the condition that
   *   emitted it
   * @param inputs filters and expressions of the columns of each input with changes
   * @param filters filters on the result that a row must pass to be stored
   */
  final case class Changelog(
      identity: Seq[String],
      condition: Seq[String],
      inputs: Seq[String],
      filters: Seq[String]
  ) extends DescribedKind
}

/**
 * Description of a join, stored beside its state as JSON.
 *
 * @param format name of the state format
 * @param keys equalities of the condition
 * @param zone the time zone, if something depends on it
 * @param aliases for a changelog join, the aliases of its inputs. Not compared. Other joins have
 *   theirs in `times`
 */
private[streamjoin] final case class JoinDescription(
    format: String,
    joinType: JoinType,
    routing: Routing,
    keys: Seq[String],
    times: DescribedTimes,
    zone: Option[DescribedZone],
    kind: DescribedKind,
    aliases: Map[Side, String] = Map.empty
) {
  import DescribedKind._
  import JoinDescription.bySide

  private def asOf: Option[String] = Some(kind).collect { case AsOf(which) => which }

  def changelog: Option[Changelog] = Some(kind).collect { case c: Changelog => c }

  def json: String = {
    val fields: JObject =
      ("format" -> format) ~
        ("version" -> FormatNumber.Current) ~
        ("joinType" -> joinType.name) ~
        ("routing" -> routing.name) ~
        ("buckets" -> buckets) ~
        ("keys" -> keys) ~
        ("sources" -> times.sources) ~
        ("bounds" -> times.bounds) ~
        ("lookup" -> bySide(side => written(times.lookup(side)))) ~
        ("limits" -> bySide(side => JArray(times.limits(side).map(written).toList))) ~
        ("times" -> times.said.map { case (time, said) => written(time) ~ ("said" -> said) }) ~
        ("zone" -> zone.map(_.json)) ~
        ("changelog" -> changelog.map(_.identity)) ~
        ("asOf" -> asOf) ~
        ("condition" -> changelog.map(_.condition)) ~
        ("inputs" -> changelog.map(_.inputs)) ~
        ("filters" -> changelog.map(_.filters)) ~
        (JoinDescription.Aliases -> Option.when(aliases.nonEmpty)(aliases.map { case (s, a) =>
          s.name -> a
        }))
    compact(render(fields))
  }

  private def buckets: Option[JObject] = Some(routing).collect { case Routing.ByTime(_, b) =>
    StoredBuckets.json(b)
  }

  private def written(time: StoredTime): JObject =
    ("name" -> time.name) ~ ("type" -> time.dataType.typeName)
}

private[streamjoin] object JoinDescription {

  /** The operator's name in progress reports and in the metadata of the state. */
  val Operator: String = "streamJoin"

  /** Name of the part with the aliases of the inputs. */
  private[checkpoint] val Aliases: String = "aliases"

  private[checkpoint] val Partitions: String = "partitions"

  private[checkpoint] val Checksums: String = "checksum"

  /** Replaces the bounds if they contradict each other. */
  val Contradiction: String = "no two rows can match"

  /** A part with one value for each side. */
  private[checkpoint] def bySide(json: Side => JValue): JObject =
    JObject(Side.both.map(side => JField(side.name, json(side))).toList)

  /** Reads a description of the current version. */
  def read(json: String): JoinDescription = {
    val all = fields(json)
    JoinDescription(
      format(json).get,
      JoinType.all.find(_.name == text(all("joinType"))).get,
      routing(all).get,
      texts(all("keys")),
      DescribedTimes(
        texts(all("sources")),
        texts(all("bounds")),
        BySide.of(s => storedTime(all("lookup") \ s.name)),
        BySide.of(s => (all("limits") \ s.name).children.map(storedTime)),
        times(json)
      ),
      zone(json),
      kind(all),
      Side.both.flatMap { side =>
        all.get(Aliases).map(_ \ side.name).collect { case JString(alias) => side -> alias }
      }.toMap
    )
  }

  private def kind(all: Map[String, JValue]): DescribedKind = {
    def of(part: String) = texts(all(part))
    all.get("changelog")
      .map(c => DescribedKind.Changelog(texts(c), of("condition"), of("inputs"), of("filters")))
      .orElse(all.get("asOf").map(asOf => DescribedKind.AsOf(text(asOf))))
      .getOrElse(DescribedKind.EventTime)
  }

  /** Placement of rows in the partitions; none if this version does not know it. */
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

  /** Filters that a row must pass to be stored. */
  def filters(json: String): Seq[String] = fields(json).get("filters").toSeq.flatMap(texts)

  /** Times with their display names. */
  def times(json: String): Seq[(StoredTime, String)] =
    fields(json).get("times").toSeq.flatMap(_.children).map(t => storedTime(t) -> text(t \ "said"))

  /** The stored time zone; none if nothing depends on it. */
  def zone(json: String): Option[DescribedZone] = fields(json).get("zone").collect {
    case z: JObject => DescribedZone(text(z \ "id"), texts(z \ "stored"))
  }

  /** The parts of any description, in their order. Empty if the text is no JSON object. */
  def fields(json: String): Map[String, JValue] = Try(parse(json)).toOption match {
    case Some(JObject(fields)) => ListMap.from(fields.filterNot(_._2 == JNothing))
    case _                     => Map.empty
  }

  /** Adds parts to a description. A part replaces another one of its name. */
  def and(json: String, more: JObject): String =
    compact(render(JObject((fields(json) ++ more.obj).toList)))

  /** The text that is stored: with the number of partitions, and a checksum of all parts. */
  def stored(json: String, partitions: Int): String = {
    val all = and(json, Partitions -> partitions)
    and(all, Checksums -> checksum(fields(all)))
  }

  /** Refuses a stored description of another version, and a damaged one. */
  def check(location: String, stored: String): Unit = {
    val parts = fields(stored)
    for (JInt(found) <- parts.get("version"))
      FormatNumber.check(location, format(stored).getOrElse("of the state"), Some(found.toLong))
    if (!parts.get(Checksums).contains(JInt(checksum(parts))))
      throw StateErrors.damaged(location, "the description of a state", "its checksum is wrong")
  }

  private def checksum(parts: Map[String, JValue]): Long =
    Checksum.of(compact(render(JObject((parts - Checksums).toList.sortBy(_._1)))))

  def partitions(json: String): Int = fields(json)(Partitions).asInstanceOf[JInt].num.toInt

  /** Text of a part for an error message. */
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
