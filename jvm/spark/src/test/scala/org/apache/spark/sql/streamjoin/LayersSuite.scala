package org.apache.spark.sql.streamjoin

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

/**
 * The packages in one order, from what everything stands on to what people call. An import may only
 * go down, so no two packages can need each other.
 */
class LayersSuite extends AnyFunSuite {

  private val core = Seq(
    "model",
    "placement",
    "bounds",
    "watermark",
    "state",
    "state.segment",
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
    "physical.stateful",
    "physical.consolidate",
    "physical.eventtime",
    "physical.changelog",
    "physical.ordered",
    "physical.asof",
    "physical",
    "rescale",
    "reporting",
    "sql",
    "api"
  )

  private val floors: Map[String, Int] =
    (core.map("io.streamjoin." + _) ++
      spark.map(p => if (p.isEmpty) LayersSuite.Spark else s"${LayersSuite.Spark}.$p") :+
      "io.streamjoin").zipWithIndex.toMap

  private val files: Seq[SourceFile] = Seq("core", "spark").flatMap { project =>
    val found = Files.walk(Paths.get("..", project, "src", "main"))
    try found.iterator.asScala.filter(_.toString.endsWith(".scala")).map(SourceFile.read).toList
    finally found.close()
  }

  /** Packages of Spark whose members change between its versions. */
  private val volatile = Seq(
    "org.apache.spark.memory",
    "org.apache.spark.scheduler",
    "org.apache.spark.shuffle",
    "org.apache.spark.sql.catalyst.optimizer",
    "org.apache.spark.sql.execution.streaming",
    "org.apache.spark.storage"
  )

  /** Classes of Java, whose static members no alias can have. */
  private val allowed = Seq("MemoryConsumer", "MemoryMode", "TaskMemoryManager")

  test("every package has its floor") {
    assert(files.nonEmpty)
    assert(files.map(_.packageName).toSet -- floors.keySet == Set.empty)
  }

  test("no import runs upwards") {
    val upwards = for {
      file <- files
      imported <- file.imports(floors.keySet)
      if floors(imported) > floors(file.packageName)
    } yield s"${file.path}: $imported"
    assert(upwards.isEmpty, upwards.mkString("\n", "\n", ""))
  }

  test("internals of Spark that change between its versions are imported from the package spark") {
    val direct = for {
      file <- files
      if file.packageName != s"${LayersSuite.Spark}.spark" && !file.path.endsWith(
        "spark/package.scala"
      )
      imported <- file.ofSpark
      if volatile.exists(imported.startsWith) && !allowed.exists(imported.contains)
    } yield s"${file.path}: $imported"
    assert(direct.isEmpty, direct.mkString("\n", "\n", ""))
  }
}

private object LayersSuite {
  val Spark = "org.apache.spark.sql.streamjoin"
}

/** @param ofSpark its imports of Spark's, as they are written */
private final case class SourceFile(
    path: Path,
    packageName: String,
    imported: Seq[String],
    ofSpark: Seq[String]
) {

  /** The packages of this project that the file imports something of. */
  def imports(packages: Set[String]): Seq[String] =
    imported.flatMap(name => name.split('.').inits.map(_.mkString(".")).find(packages)).distinct
}

private object SourceFile {

  private val Package = """(?m)^package (\S+)""".r
  private val Import =
    """(?m)^\s*import ((?:io\.streamjoin|org\.apache\.spark\.sql\.streamjoin)[\w.]*)""".r

  private val ImportOfSpark = """(?m)^\s*import (org\.apache\.spark\.(?:\{[^}]*}|.*))""".r

  def read(path: Path): SourceFile = {
    val text = Files.readString(path)
    SourceFile(
      path,
      Package.findFirstMatchIn(text).get.group(1),
      Import.findAllMatchIn(text).map(_.group(1).stripSuffix(".")).toSeq,
      ImportOfSpark.findAllMatchIn(text).map(_.group(1)).toSeq
    )
  }
}
