package org.apache.spark.sql.streamjoin.physical

import java.nio.file.{Files, Path, Paths}
import java.util.regex.Pattern

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.errors.ErrorConditions
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinOptions
import org.apache.spark.sql.streamjoin.physical.changelog.ChangelogMetrics
import org.apache.spark.sql.streamjoin.physical.ordered.StreamOrderExec
import org.apache.spark.sql.streamjoin.physical.timed.TimedJoinMetrics
import org.apache.spark.sql.streamjoin.reporting.JoinSource

import io.streamjoin.join.Count
import io.streamjoin.model.Side

/** The tables of settings, errors and metrics are complete and list nothing else. */
class ReferencePagesSuite extends AnyFunSuite {

  private val docs = Paths.get("..", "..", "docs")

  private val pages: Seq[Path] = {
    val found = Files.walk(docs)
    try found.iterator.asScala.filter(_.toString.endsWith(".md")).toList
    finally found.close()
  } :+ Paths.get("..", "..", "README.md")

  /** The rows of the tables below a heading of any rank, up to the next heading, cell by cell. */
  private def table(page: String, heading: String): Seq[Seq[String]] =
    Files
      .readString(docs.resolve("reference").resolve(page))
      .split("(?m)^#+ ")
      .find(_.startsWith(heading + "\n"))
      .getOrElse(fail(s"there is no heading $heading"))
      .linesIterator
      .filter(line => line.startsWith("| ") && line.contains("`"))
      .map(_.stripPrefix("|").stripSuffix("|").split('|').map(_.trim).toSeq)
      .toSeq

  private def quoted(cell: String): Seq[String] =
    "`([^`]+)`".r.findAllMatchIn(cell).map(_.group(1)).toSeq

  private def all(text: String, name: String): Set[String] = name.r.findAllIn(text).toSet

  private val settings: Map[String, String] = {
    // entries register when they are created
    val prefix = StreamJoinConf.ReplaceBuiltin.key.stripSuffix("replaceBuiltin")
    SQLConf
      .getConfigEntries()
      .asScala
      .filter(_.key.startsWith(prefix))
      .map(e => e.key -> e.defaultValueString)
      .toMap
  }

  private val errors: Set[String] = ErrorConditions.all.toSet

  test("the SQL page lists the options of a join") {
    val options = table("sql.md", "Options of a join").flatMap(cells => quoted(cells.head))
    assert(options.toSet == JoinOptions.names.toSet)
  }

  test("the settings page lists all settings with their defaults") {
    val rows =
      table("settings.md", "Settings").map(cells => quoted(cells.head).head -> cells(1)).toMap
    assert(rows.keySet == settings.keySet)
    assert(StreamJoinConf.all.map(_.key).toSet == settings.keySet)
    for ((key, default) <- settings if quoted(rows(key)).nonEmpty)
      assert(quoted(rows(key)) == Seq(default), key)
    for ((key, default) <- settings if quoted(rows(key)).isEmpty)
      assert(default == "<undefined>", key)
  }

  test("the errors page lists all errors once") {
    val rows = table("errors.md", "Errors").map(_.head).flatMap { cell =>
      val names = quoted(cell)
      val prefix = names.head.takeWhile(_ != '.')
      names.map(n => if (n.contains('.')) n else s"$prefix.$n")
    }
    assert(rows.toSet == errors)
    assert(rows.distinct == rows)
  }

  test("an error that a page quotes has the text of its class") {
    val quotes = for {
      page <- pages
      found <- """(?m)^\[(STREAM_JOIN\w*\.\w+)\] (.*)$""".r.findAllMatchIn(Files.readString(page))
    } yield found.group(1) -> found.group(2)
    assert(quotes.nonEmpty)
    for ((name, quote) <- quotes) {
      val parts = ErrorConditions.texts(name).split("<\\w+>").map(Pattern.quote)
      assert(parts.mkString(".+").r.unanchored.matches(quote), name)
    }
  }

  test("the metrics page lists all metrics of an event-time join") {
    val rows = table("metrics.md", "Metrics").flatMap(cells => quoted(cells.head))
    val sketched = Seq("lagForMost", "lagForAll", "disorderRows")
    val grouped = Seq("groups", "groupSpread")
    val others = Seq("watermark", "delay", "lag", "latestBy", "disorder", "completeFrom")
    val ofColumns = (others ++ sketched ++ grouped).map(_ + ".<column>")
    val ofGroups = Seq("groupWatermark", "groupSilent").map(_ + ".<column>.<group>")
    assert(rows.toSet == (TimedJoinMetrics.figures.names ++ ofColumns ++ ofGroups).toSet ++ Seq(
      "closestMiss",
      "hotKeys"
    ))
  }

  test("the monitoring page lists all metrics that are sent, each as a reading or a sum") {
    val kinds = table("../how-to/monitoring.md", "Spark's metrics system")
      .filter(_.length == 3)
      .flatMap(cells => quoted(cells.head).map(_ -> cells(2)))
      .toMap
    val metrics = table("metrics.md", "Metrics")
      .flatMap(cells => quoted(cells.head))
      .filterNot(_.contains("<group>"))
    assert(metrics.filterNot(kinds.contains) == Nil)
    for (metric <- metrics)
      assert(JoinSource.isReading(metric) == (kinds(metric) == "current value"), metric)
  }

  test("each kind of join reports the rows that arrived and the late ones of them") {
    for (figures <- Seq(TimedJoinMetrics.figures, ChangelogMetrics.figures); side <- Side.both)
      assert(Seq(Count.Input, Count.Late).map(_.of(side)).toSet.subsetOf(figures.names.toSet))
  }

  test("the concept pages mention all metrics of ordered output and of changelog joins") {
    def unnamed(figures: Seq[String], page: String): Set[String] = {
      val text = Files.readString(docs.resolve("concepts").resolve(page))
      figures.filterNot(name => text.contains(s"`$name`")).toSet
    }
    val sided = ChangelogMetrics.figures.names.map(_.stripSuffix("Left").stripSuffix("Right"))
    assert(unnamed(StreamOrderExec.Figures.names, "ordered.md") == Set.empty)
    assert(unnamed(sided, "changelog.md") == Set.empty)
  }

  for (page <- pages) test(s"all settings and errors on a page exist: ${docs.relativize(page)}") {
    val text = Files.readString(page)
    val named = all(text, """spark\.sql\.streamJoin\.\w+""")
    assert(named -- settings.keySet == Set.empty)
    val refused = all(text, """STREAM_JOIN(_STATE)?\.[A-Z][A-Z_]*[A-Z]""")
    assert(refused -- errors == Set.empty)
  }
}
