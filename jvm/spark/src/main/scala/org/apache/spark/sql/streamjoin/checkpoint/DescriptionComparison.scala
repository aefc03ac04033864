package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.conditions.SessionZone
import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinRuntimeException}
import org.json4s._

/**
 * Compares the stored description of an operator with that of the query, and refuses a checkpoint
 * that does not fit. The refusal names columns and intervals as the query does.
 *
 * @param old stored description, in JSON
 * @param now description of the query, in JSON
 */
private[checkpoint] final class DescriptionComparison(location: String, old: String, now: String) {
  import DescriptionComparison._

  private val (found, expected) = (JoinDescription.fields(old), JoinDescription.fields(now))
  private val (zoneThen, zoneNow) = (JoinDescription.zone(old), JoinDescription.zone(now))

  def requireAll(): Unit = {
    requireZone()
    val compared = (expected.keySet ++ found.keySet -- Apart).toSeq
    compared.sortBy(name => (order(name), name)).foreach(require)
  }

  def require(name: String): Unit = {
    val (before, after) = (found.get(name), expected.get(name))
    if (before != after) {
      name match {
        case "bounds" if otherZone => throw zoneOfBounds
        case "bounds"              => throw bounds
        case _ =>
          val was = before.fold("none")(shown(_, timesThen))
          throw refusal(
            s"it was written with ${words.getOrElse(name, s"another '$name'")}",
            was,
            after.fold("none")(shown(_, timesNow)),
            if (name == "format") setFormat(was) else AsItWas
          )
      }
    }
  }

  private def refusal(
      reason: String,
      before: String,
      after: String,
      instead: String
  ): StreamJoinRuntimeException =
    if (instead == AsItWas) StateErrors.otherQuery(location, reason, before, after)
    else StateErrors.incompatibleCheckpoint(location, reason, before, after, null, instead)

  // ---- bounds ----

  private def timesNow = JoinDescription.times(now)

  private def timesThen = JoinDescription.times(old)

  private def bounds: StreamJoinRuntimeException = {
    val (before, after) = (texts(found), texts(expected))
    def only(these: Seq[String], others: Seq[String], times: Seq[(StoredTime, String)]) =
      these.diff(others).map(StoredBound.words(_, times)) match {
        case Nil  => "nothing else"
        case said => said.mkString(" AND ")
      }
    refusal(
      "it was written with other time bounds",
      only(before, after, timesThen),
      only(after, before, timesNow),
      AsItWas
    )
  }

  private def texts(of: Map[String, JValue]): Seq[String] =
    of.get("bounds").toSeq.flatMap(_.children).map(JoinDescription.shown)

  // ---- time zone ----

  private def otherZone: Boolean =
    zoneThen.exists(a => zoneNow.exists(b => !SessionZone.same(a.id, b.id)))

  /**
   * Refuses another session time zone if stored keys or times depend on it, because a lookup would
   * miss rows, or if days have another length in it. Two zones may have equal bounds for a day of
   * 23 to 25 hours, but other days with 23 hours.
   */
  private def requireZone(): Unit =
    for (before <- zoneThen; now <- zoneNow if !SessionZone.same(before.id, now.id)) {
      if (now.stored.nonEmpty)
        throw zone(s"the value of ${now.stored.mkString(", ")} depends on it")
      if (!SessionZone.haveSameDays(before.id, now.id)) throw zoneOfBounds
    }

  private def zoneOfBounds =
    zone("days or local times in the condition make the bounds depend on it")

  private def zone(why: String): StreamJoinRuntimeException = {
    def id(zone: Option[DescribedZone]) = zone.fold("")(_.id)
    val before = id(zoneThen)
    refusal(
      s"it was written in another time zone of the session, and $why",
      setting(before),
      setting(id(zoneNow)),
      s"Set $Zone to '$before' and start the query again, or start it with a new checkpoint location"
    )
  }
}

private object DescriptionComparison {

  private val AsItWas =
    "Start the query with a new checkpoint location, or restore the earlier query"

  private def setFormat(name: String) =
    s"Set spark.sql.streamJoin.stateFormat = '$name', or start with a new checkpoint location"

  private val Zone = SQLConf.SESSION_LOCAL_TIMEZONE.key

  private def setting(zone: String): String = s"$Zone = $zone"

  /**
   * Parts that are not compared, or that have their own check, such as format and version.
   */
  private val Apart = Set(
    "times",
    "zone",
    "version",
    "format",
    JoinDescription.Aliases,
    JoinDescription.Checksums,
    StoredColumns.Part,
    StoredReferences.Part,
    StoredSources.Part,
    StoredBases.Part,
    ExcludedRules.Part,
    StoredGroupColumns.Part
  )

  private val words = Map(
    "joinType" -> "another join type",
    "partitions" -> "another number of partitions",
    "format" -> "another state format",
    "order" -> "another event time of its order",
    "keys" -> "other equalities as keys",
    "condition" -> "another condition",
    "inputs" -> "other filters or columns of its inputs",
    "changelog" -> "another key or sequence of an input, or state_ttl was added or removed",
    "filters" -> "other filters on its result, so it lacks the rows that these filters drop",
    "sources" -> "other event-time columns with a watermark",
    "asOf" -> "another definition of the last rows",
    "lookup" -> "another time for the lookup of rows",
    "limits" -> "other times for the eviction of rows",
    "routing" -> "another distribution of rows over the partitions"
  )

  private val first = Seq("joinType", "keys", "sources", "bounds")

  private def order(name: String): Int = first.indexOf(name) match {
    case -1 => first.length
    case i  => i
  }

  /** Text of a part, with the display names of times. */
  private def shown(value: JValue, times: Seq[(StoredTime, String)]): String = value match {
    case JArray(values) if values.isEmpty => "none"
    case JArray(values)                   => values.map(shown(_, times)).mkString(", ")
    case o: JObject if o.values.contains("name") =>
      val name = JoinDescription.shown(o \ "name")
      times.collectFirst { case (time, said) if time.name == name => said }.getOrElse(name)
    case JObject(sides) =>
      sides.map { case (side, v) => s"$side ${shown(v, times)}" }.mkString("; ")
    case other => JoinDescription.shown(other)
  }
}
