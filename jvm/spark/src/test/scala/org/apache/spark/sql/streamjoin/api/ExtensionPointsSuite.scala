package org.apache.spark.sql.streamjoin.api

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

/** The documentation of the extension lists all registered rules by stage and in order. */
class ExtensionPointsSuite extends AnyFunSuite {

  private val sources = Paths.get("src", "main", "scala")

  private val stages = Seq(
    "Parsing" -> "Parser",
    "Hint resolution" -> "HintResolutionRule",
    "Resolution" -> "ResolutionRule",
    "Post-hoc" -> "PostHocResolutionRule",
    "Check" -> "CheckRule",
    "Normalization" -> "PlanNormalizationRule",
    "Optimization" -> "OptimizerRule",
    "Planning" -> "PlannerStrategy|Columnar"
  )

  private def read(path: Path): String = Files.readString(sources.resolve(path))

  private val registered: Map[String, Seq[String]] = {
    val text = read(Paths.get("org/apache/spark/sql/streamjoin/api/ExtensionPoints.scala"))
    stages.map { case (stage, hooks) =>
      val injected = s"""inject(?:$hooks)\\((?:\\(?[\\w, ]+\\)? => )?(?:new )?([A-Z][\\w.]*)""".r
      val several = if (hooks == "CheckRule") checks(text) else Nil
      stage -> (several ++ injected.findAllMatchIn(text).map(m => plain(m.group(1))))
    }.toMap
  }

  /** The check rules, which are registered as a list. */
  private def checks(text: String): Seq[String] =
    "(?m)^    ([A-Z][\\w.]*)(?:\\(session\\))?,?$".r
      .findAllMatchIn(text.substring(text.indexOf("def checks(")))
      .map(_.group(1))
      .toSeq

  private val listed: Map[String, Seq[String]] = {
    val text = read(Paths.get("io/streamjoin/StreamJoinExtensions.scala"))
    val doc = text.substring(text.indexOf("/**"), text.indexOf("Applied twice"))
    val starts = stages.map { case (stage, _) =>
      stage -> s"(?m)^ \\*  - $stage[.,]".r.findFirstMatchIn(doc).fold(-1)(_.start)
    }
    val ends = starts.map(_._2).tail :+ doc.length
    starts.zip(ends).map { case ((stage, from), to) =>
      assert(from >= 0, s"there is no stage $stage")
      stage -> "`([A-Z]\\w*(?:\\.\\w+)?)`".r
        .findAllMatchIn(doc.substring(from, to))
        .map(_.group(1))
        .filter(name => registered.values.exists(_.contains(name)))
        .toSeq
    }.toMap
  }

  private def plain(name: String): String = name.stripSuffix(".around").stripSuffix(".")

  for ((stage, _) <- stages)
    test(s"the documentation lists the rules of a stage in order: $stage") {
      assert(registered(stage).nonEmpty)
      assert(listed(stage) == registered(stage))
    }

  test("each rule is named in a test suite") {
    val suites = Using.resource(Files.walk(Paths.get("src", "test", "scala"))) { paths =>
      paths.iterator.asScala
        .filter(path => path.toString.endsWith("Suite.scala"))
        .map(Files.readString(_))
        .toSeq
    }
    val rules = registered.removed("Parsing").values.flatten.map(_.takeWhile(_ != '.')).toSet
    val untested =
      rules.filterNot(rule => suites.exists(s"\\b$rule(Suite)?\\b".r.findFirstIn(_).nonEmpty))
    assert(untested.isEmpty)
  }
}
