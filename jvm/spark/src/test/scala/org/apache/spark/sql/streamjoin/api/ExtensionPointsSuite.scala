package org.apache.spark.sql.streamjoin.api

import java.nio.file.{Files, Paths}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.streamjoin.AnalysisSession

/** The documentation of the extension lists all registered rules by stage and in order. */
class ExtensionPointsSuite extends AnalysisSession {

  private val stages = Seq(
    "Parsing",
    "Hint resolution",
    "Resolution",
    "Post-hoc",
    "Check",
    "Normalization",
    "Optimization",
    "Planning"
  )

  /** The rules that the extension injects, by stage. */
  private lazy val injected: Map[String, Seq[AnyRef]] = {
    val recorder = new Recorder
    ExtensionPoints.inject(recorder)
    recorder.rules.toMap
  }

  /**
   * The names of the same rules, with the rules of each phase instead of the phase. The
   * documentation lists the operators, which run before resolution and in it, in the latter.
   */
  private lazy val registered: Map[String, Seq[String]] =
    injected.map { case (stage, rules) =>
      def names(rule: AnyRef): Seq[String] = rule match {
        case _ if stage == "Hint resolution" && (rule eq ExtensionPoints.operators) => Nil
        case phase: Phase                   => phase.rules.flatMap(names)
        case _ if rule.getClass.isSynthetic => ExtensionPoints.checks(session).map(nameOf)
        case _                              => Seq(nameOf(rule))
      }
      stage -> rules.flatMap(names)
    }

  private def nameOf(rule: AnyRef): String =
    rule.getClass.getName.split('.').last.stripSuffix("$").replace('$', '.')

  private class Recorder extends SparkSessionExtensions {
    val rules = mutable.Map.empty[String, Seq[AnyRef]].withDefaultValue(Nil)

    private def add(stage: String, rule: AnyRef): Unit = rules(stage) :+= rule

    override def injectParser(builder: ParserBuilder): Unit =
      add("Parsing", builder(session, session.sessionState.sqlParser))
    override def injectHintResolutionRule(builder: RuleBuilder): Unit =
      add("Hint resolution", builder(session))
    override def injectResolutionRule(builder: RuleBuilder): Unit =
      add("Resolution", builder(session))
    override def injectPostHocResolutionRule(builder: RuleBuilder): Unit =
      add("Post-hoc", builder(session))
    override def injectCheckRule(builder: CheckRuleBuilder): Unit = add("Check", builder(session))
    override def injectPlanNormalizationRule(builder: RuleBuilder): Unit =
      add("Normalization", builder(session))
    override def injectOptimizerRule(builder: RuleBuilder): Unit =
      add("Optimization", builder(session))
    override def injectPlannerStrategy(builder: StrategyBuilder): Unit =
      add("Planning", builder(session))
    override def injectColumnar(builder: ColumnarRuleBuilder): Unit =
      add("Planning", builder(session))
  }

  private lazy val listed: Map[String, Seq[String]] = {
    val text =
      Files.readString(Paths.get(
        "src",
        "main",
        "scala",
        "io/streamjoin/StreamJoinExtensions.scala"
      ))
    val doc = text.substring(text.indexOf("/**"), text.indexOf("Applied twice"))
    val starts = stages.map { stage =>
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

  for (stage <- stages)
    test(s"the documentation lists the rules of a stage in order: $stage") {
      assert(registered(stage).nonEmpty)
      assert(listed(stage) == registered(stage))
    }

  test("each rule belongs to one stage") {
    val all = registered.values.flatten.toSeq
    assert(all.distinct == all)
  }

  test("the rules that build operators run as one phase, before resolution and in it") {
    for (stage <- Seq("Hint resolution", "Resolution")) {
      val inner = injected(stage).collect { case p: Phase => p.rules }.flatten
        .filter(_.isInstanceOf[Phase])
      assert(inner == Seq(ExtensionPoints.operators))
    }
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
