package org.apache.spark.sql.streamjoin

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

/**
 * The layer order of the packages, from the models at the bottom to the public API. A file imports
 * only from its own layer or a lower one, so no two packages depend on each other.
 *
 * Of Spark, a file imports every class that has one name in all supported versions. Compilation for
 * each version finds a class that has not, and the check of links finds changed members
 * (`tests/packaging/test_spark_versions.py`).
 */
class LayersSuite extends AnyFunSuite {

  private val core = Seq(
    "model",
    "placement",
    "bounds",
    "watermark",
    "state",
    "state.segment.pages",
    "state.segment.index",
    "state.segment.history",
    "state.segment",
    "join",
    "join.eventtime",
    "join.changelog",
    "join.ordered",
    "join.asof"
  )

  private val spark = Seq(
    "",
    "spark",
    "run",
    "errors",
    "conditions",
    "logical.times",
    "logical.plan",
    "logical.plan.options",
    "logical.plan.changes",
    "logical.plan.analysis",
    "logical.plan.nodes",
    "logical.optimize",
    "logical.resolve.shared",
    "logical.resolve.refusals",
    "logical.resolve.changelog",
    "logical.resolve.eventtime",
    "logical.resolve.asof",
    "logical.resolve.orders",
    "logical.resolve.analyzer",
    "checkpoint",
    "checkpoint.segment",
    "checkpoint.rocksdb",
    "checkpoint.formats",
    "checkpoint.pending",
    "physical.exchange",
    "physical.stateful.shown",
    "physical.stateful.times",
    "physical.stateful.operator",
    "physical.consolidate",
    "physical.timed",
    "physical.eventtime",
    "physical.realtime",
    "physical.changelog",
    "physical.ordered",
    "physical.asof",
    "physical",
    "rewrite",
    "rescale",
    "evolve",
    "warm",
    "reporting",
    "sql",
    "api"
  )

  private val layers: Map[String, Int] =
    (core.map("io.streamjoin." + _) ++
      spark.map(p => if (p.isEmpty) LayersSuite.Spark else s"${LayersSuite.Spark}.$p") :+
      "io.streamjoin").zipWithIndex.toMap

  private val files: Seq[SourceFile] = Seq("core", "spark").flatMap { project =>
    val found = Files.walk(Paths.get("..", project, "src", "main"))
    try found.iterator.asScala.filter(_.toString.endsWith(".scala")).map(SourceFile.read).toList
    finally found.close()
  }

  test("every package has a position in the order of layers") {
    assert(files.nonEmpty)
    assert(files.map(_.packageName).toSet -- layers.keySet == Set.empty)
  }

  test("no file imports a package of a higher layer") {
    val upward = for {
      file <- files
      imported <- file.imports(layers.keySet)
      if layers(imported) > layers(file.packageName)
    } yield s"${file.path}: $imported"
    assert(upward.isEmpty, upward.mkString("\n", "\n", ""))
  }

  test("no operator of one kind of join imports that of another kind") {
    val kinds = Seq("eventtime", "changelog", "asof")
    val rooms = Seq("io.streamjoin.join", s"${LayersSuite.Spark}.physical")
      .map(operators => kinds.map(kind => s"$operators.$kind"))
    val found = for {
      apart <- rooms
      file <- files if apart.contains(file.packageName)
      imported <- file.imports(layers.keySet)
      if apart.contains(imported) && imported != file.packageName
    } yield s"${file.path}: $imported"
    assert(found.isEmpty, found.mkString("\n", "\n", ""))
  }

  /**
   * Files that read the active session. Spark makes the session of a query the active one while it
   * parses, analyzes and plans the query. A program with several sessions may call any other code
   * while another session is active.
   */
  private val whileSparkPlans = Set(
    // called by the parser, or while Spark resolves a function or a data source
    "api/VersionFunction",
    "checkpoint/pending/JoinsFunction",
    "checkpoint/pending/PendingTable",
    "sql/StreamSqlParser",
    // rules of the analyzer and what they call. DataFrameOperations, which calls some of these
    // rules itself, makes the session of the DataFrame the active one
    "logical/resolve/asof/AsOfBuilder",
    "logical/resolve/asof/AsOfTimes",
    "logical/resolve/eventtime/BuiltinJoin",
    "logical/resolve/eventtime/LateColumn",
    "logical/resolve/eventtime/Retention",
    "logical/resolve/refusals/CheckSecondWatermark",
    "logical/resolve/refusals/WarnAtAnalysis",
    "logical/resolve/shared/Distance",
    // planner; CheckCheckpoint makes its clone of the session the active one
    "checkpoint/ExcludedRules",
    "physical/PlanExchanges",
    "physical/PlanRealTime",
    "physical/StreamJoinStrategy"
  )

  test("only code that Spark calls while it parses, analyzes or plans reads the active session") {
    val reading = """SQLConf\.get\b|SparkSession\.(active|getActiveSession|getDefaultSession)\b""".r
    val found = files.filter(file => reading.findFirstIn(Files.readString(file.path)).nonEmpty)
    val names = found.map { file =>
      file.path.toString.stripSuffix(".scala").split("/org/apache/spark/sql/streamjoin/").last
    }
    assert(names.toSet == whileSparkPlans)
  }

  test("only classes that a version of Spark has moved have aliases") {
    val main = Paths.get("src", "main")
    val folders = Files.list(main)
    val aliases =
      try
        folders.iterator.asScala
          .map(_.resolve(s"${LayersSuite.Spark.replace('.', '/')}/spark/RelocatedClasses.scala"))
          .filter(Files.exists(_))
          .map(file => SourceFile.aliases(Files.readString(file)))
          .toSeq
      finally folders.close()
    assert(aliases.length > 1)
    val names = aliases.head.keySet
    assert(names.nonEmpty && aliases.forall(_.keySet == names))
    assert(names.filter(name => aliases.map(_(name)).distinct.length == 1) == Set.empty)
    val shared = main.resolve(s"scala/${LayersSuite.Spark.replace('.', '/')}/spark/package.scala")
    assert(SourceFile.aliases(Files.readString(shared)) == Map.empty)
  }
}

private object LayersSuite {
  val Spark = "org.apache.spark.sql.streamjoin"
}

private final case class SourceFile(path: Path, packageName: String, imported: Seq[String]) {

  /** The packages of this project from which the file imports. */
  def imports(packages: Set[String]): Seq[String] =
    imported.flatMap(name => name.split('.').inits.map(_.mkString(".")).find(packages)).distinct
}

private object SourceFile {

  private val Package = """(?m)^package (\S+)""".r
  private val Import =
    """(?m)^\s*import ((?:io\.streamjoin|org\.apache\.spark\.sql\.streamjoin)[\w.]*)""".r

  private val Prefix = """(?m)^import ([\w.]+)\.(?:(\w+)|\{([^}]*)})$""".r
  private val Alias = """(?m)^ +(?:type|lazy val) (\w+) = (\w+)(\.[\w.]+)$""".r

  /** The aliases in a source text, with the full names of their classes. */
  def aliases(text: String): Map[String, String] = {
    val packages = for {
      found <- Prefix.findAllMatchIn(text)
      name <- Option(found.group(2)).getOrElse(found.group(3)).split(',').map(_.trim)
    } yield name -> s"${found.group(1)}.$name"
    val known = packages.toMap
    Alias.findAllMatchIn(text).map(m => m.group(1) -> (known(m.group(2)) + m.group(3))).toMap
  }

  def read(path: Path): SourceFile = {
    val text = Files.readString(path)
    SourceFile(
      path,
      Package.findFirstMatchIn(text).get.group(1),
      Import.findAllMatchIn(text).map(_.group(1).stripSuffix(".")).toSeq
    )
  }
}
