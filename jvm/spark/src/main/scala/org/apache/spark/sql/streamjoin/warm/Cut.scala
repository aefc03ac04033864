package org.apache.spark.sql.streamjoin.warm

import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.{functions => F}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException
import org.apache.spark.sql.streamjoin.logical.resolve.shared.InputSources
import org.json4s._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

/**
 * The place where the history of a stream ends and its live rows begin. It is checked, because rows
 * in both would be joined twice, and rows in neither would be missing.
 *
 * {{{
 *   live      history                                     the check
 *   topic     the topic, read as a batch                  startingOffsets = endingOffsets
 *   topic     a table with partition and offset           startingOffsets = last offset + 1
 *   Delta     the same table at a version                 startingVersion = version + 1
 *   files     files of other folders                      no folder is in the other
 * }}}
 *
 * @param refusal makes an error from its sub-class and its parameters
 */
private[warm] final class Cut(
    input: Input,
    refusal: (String, Seq[(String, String)]) => StreamJoinAnalysisException
) {
  private type Offsets = Map[String, Map[Int, Long]]

  private val (kind: String, options: Map[String, String]) = InputSources.kind(input.source)
    .getOrElse("unknown" -> CaseInsensitiveMap(Map.empty[String, String]))
  private val plan = input.history.rows.queryExecution.analyzed
  private val files = plan.collect {
    case l: LogicalRelation => l.relation
  }.collect { case h: HadoopFsRelation => h }

  def check(): Unit = kind match {
    case "kafka"       => requireEqual("startingOffsets", compact(render(json(endOfTopics))))
    case "delta"       => requireEqual("startingVersion", (versionOfDelta + 1).toString)
    case _ if areFiles => requireApart()
    case other         => throw unknown(s"a source of the format $other")
  }

  private def requireEqual(option: String, expected: String): Unit = {
    val found = options.get(option)
    if (
      !found.exists(f => f == expected || Try(offsets(f) == offsets(expected)).getOrElse(false))
    ) {
      throw refusal(
        "OTHER_CUT",
        Seq(
          "live" -> input.told,
          "option" -> option,
          "found" -> found.fold("not set")(f => s"'$f'"),
          "expected" -> expected
        )
      )
    }
  }

  // ---- topics ----

  private def endOfTopics: Offsets = input.history.offsets match {
    case Some((partition, offset)) => topics match {
        case Seq(topic) => Map(topic -> endOfTable(partition, offset))
        case several    => throw unknown(s"${several.length} topics, and offsets without a topic")
      }
    case None =>
      plan.collect { case l: LogicalRelation => l.relation } match {
        case Seq(topic) if topic.getClass.getSimpleName == "KafkaRelation" => endOf(topic)
        case _ => throw unknown("a history that is no topic, without the columns of its offsets")
      }
  }

  /**
   * The `endingOffsets` of a topic that is read as a batch. Kafka's classes are not on the class path;
   * its partitions are written `orders-0`.
   */
  private def endOf(topic: BaseRelation): Offsets = {
    val ends = Try {
      val field = topic.getClass.getDeclaredFields.filter(_.getName.endsWith("endingOffsets")).head
      field.setAccessible(true)
      field.get(topic).asInstanceOf[Product].productIterator.toSeq
    }.getOrElse(Nil).collect { case of: Map[_, _] => of.toSeq }.flatten
    val known = for ((partition, end: Long) <- ends) yield {
      val (name, number) = partition.toString.splitAt(partition.toString.lastIndexOf('-'))
      (name, number.drop(1).toInt, end)
    }
    // -1 is the end of the topic at the time at which the history is read
    if (known.isEmpty || known.exists(_._3 < 0))
      throw unknown("a history without the option endingOffsets as numbers of offsets")
    known.groupMap(_._1)(end => end._2 -> end._3).map { case (name, of) => name -> of.toMap }
  }

  private def topics: Seq[String] =
    options.get("subscribe").toSeq.flatMap(_.split(',')).map(_.trim)

  /** The offset after the last one of each partition. */
  private def endOfTable(partition: String, offset: String): Map[Int, Long] =
    input.history.rows
      .groupBy(F.col(partition).cast("int").as("partition"))
      .agg(
        F.min(offset).cast("long"),
        F.max(offset).cast("long"),
        F.count(offset),
        F.countDistinct(offset)
      )
      .orderBy("partition").collect().map { row =>
        val (least, last) = (row.getLong(1), row.getLong(2))
        if (row.getLong(3) != row.getLong(4) || row.getLong(4) != last - least + 1) {
          throw refusal(
            "GAP",
            Seq(
              "live" -> input.told,
              "partition" -> row.getInt(0).toString,
              "first" -> least.toString,
              "last" -> last.toString,
              "rows" -> row.getLong(3).toString,
              "distinct" -> row.getLong(4).toString
            )
          )
        }
        row.getInt(0) -> (last + 1)
      }.toMap

  /** `{"topic": {"0": 5000}}`. */
  private def offsets(text: String): Offsets = parse(text) match {
    case JObject(topics) => topics.map {
        case (topic, JObject(partitions)) =>
          topic -> partitions.collect { case (p, JInt(offset)) => p.toInt -> offset.toLong }.toMap
        case (topic, _) => topic -> Map.empty[Int, Long]
      }.toMap
    case _ => throw new IllegalArgumentException(text)
  }

  private def json(of: Offsets): JObject = JObject(of.toList.sortBy(_._1).map {
    case (topic, partitions) => JField(
        topic,
        JObject(partitions.toList.sortBy(_._1).map { case (p, o) => JField(p.toString, JInt(o)) })
      )
  })

  // ---- tables and files ----

  /** The version at which Delta reads the history. Its classes are not on the class path. */
  private def versionOfDelta: Long = files.map(_.location).flatMap { location =>
    Try {
      val snapshot = location.getClass.getMethod("getSnapshot").invoke(location)
      snapshot.getClass.getMethod("version").invoke(snapshot).asInstanceOf[Long]
    }.toOption
  } match {
    case Seq(version) => version
    case _            => throw unknown("a history that is not one Delta table")
  }

  private def areFiles: Boolean = options.contains("path") && files.nonEmpty

  private def requireApart(): Unit = {
    val hadoopConf = input.history.rows.sparkSession.sessionState.newHadoopConf()
    // of a pattern, the folders before its first wildcard
    def folder(path: Path): String = {
      val full = path.getFileSystem(hadoopConf).makeQualified(path).toString
      full.split("/").takeWhile(!_.exists("{[*?\\".contains(_))).mkString("", "/", "/")
    }
    val live = folder(new Path(options("path")))
    for {
      history <- files.flatMap(_.location.rootPaths).map(folder)
      if live.startsWith(history) || history.startsWith(live)
    } throw refusal("SAME_FILES", Seq("live" -> live, "history" -> history))
  }

  private def unknown(what: String) =
    refusal("UNKNOWN_CUT", Seq("live" -> input.told, "what" -> what))
}
