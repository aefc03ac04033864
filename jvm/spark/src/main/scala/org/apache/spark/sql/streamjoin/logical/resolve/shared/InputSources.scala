package org.apache.spark.sql.streamjoin.logical.resolve.shared

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.streamjoin.logical.plan.analysis.InputSource
import org.apache.spark.sql.streamjoin.spark.{NamedSources, StreamingRelation}
import org.json4s._
import org.json4s.jackson.JsonMethods.parse

/**
 * The streaming sources below an input, in the order of the plan. A source that occurs twice is
 * there twice, as Spark stores an offset for each.
 *
 * Of the options of a source, only its path, topic or table is read. Others may contain secrets.
 */
private[streamjoin] object InputSources {

  def of(input: LogicalPlan): Seq[InputSource] =
    leaves(input).map(leaf => InputSource(NamedSources.nameOf(leaf), located(leaf)))

  /** The leaves of the plan that read these sources. */
  def leaves(input: LogicalPlan): Seq[LogicalPlan] =
    input.collectLeaves().filter(isSource)

  /** Whether a part of a plan reads a streaming source. */
  def isSource(part: LogicalPlan): Boolean = located(part).nonEmpty

  private def located(leaf: LogicalPlan): Seq[String] = leaf match {
    case s: StreamingRelation if s.dataSource.catalogTable.nonEmpty =>
      s.dataSource.catalogTable.toSeq.map(t => s"table ${t.identifier.unquotedString}")
    case s: StreamingRelationV2 if s.identifier.nonEmpty =>
      Seq((s.catalog.map(_.name).toSeq ++ s.identifier.map(_.toString)).mkString("table ", ".", ""))
    case _ => kind(leaf).toSeq.flatMap { case (kind, options) => located(kind, options) }
  }

  /** The format of a source, and its options. */
  def kind(leaf: LogicalPlan): Option[(String, CaseInsensitiveMap[String])] = leaf match {
    case s: StreamingRelation =>
      val path = s.dataSource.paths.headOption.map("path" -> _)
      Some(s.dataSource.className -> CaseInsensitiveMap(s.dataSource.options ++ path))
    case s: StreamingRelationV2 =>
      Some(s.sourceName -> CaseInsensitiveMap(s.extraOptions.asScala.toMap))
    case _ => None
  }

  private def located(kind: String, options: Map[String, String]): Seq[String] = {
    val topics = options.get("subscribe").map(_.split(',').map(_.trim).toSeq)
      .orElse(options.get("assign").map(assigned))
      .orElse(options.get("subscribePattern").map(Seq(_)))
    topics.getOrElse {
      val parts = Locations.flatMap(options.get) ++ options.get("path").map(path)
      Seq(parts.mkString(" "))
    }.map(location => s"$kind $location".trim)
  }

  /** The options with the location of other sources. */
  private val Locations =
    Seq("topic", "topics", "streamName", "table", "dbtable", "host", "port")

  /** Topics and partitions of `{"topic": [0, 1]}`. */
  private def assigned(json: String): Seq[String] =
    Try(parse(json)).collect { case JObject(topics) => topics }.toOption.fold(Seq(json)) {
      _.map { case (topic, partitions) => s"$topic ${partitions.values}" }
    }

  /** Removes the scheme of local files, so that both spellings of a path are equal. */
  private def path(written: String): String = Try {
    val uri = new Path(written).toUri
    if (uri.getScheme == "file") uri.getPath else uri.toString
  }.getOrElse(written)
}
