package org.apache.spark.sql.streamjoin.builtin

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

/** The list of deviations, its page and Spark's suites name the same tests. */
class DeviationsSuite extends AnyFunSuite {

  private val suites =
    Seq(
      new SparkInnerJoinSuite,
      new SparkOuterJoinSuite,
      new SparkFullOuterJoinSuite,
      new SparkLeftSemiJoinSuite
    )

  /** The first column of each table, by heading. */
  private lazy val page: Map[String, Seq[String]] = {
    val file = Iterator
      .iterate(Path.of("").toAbsolutePath)(_.getParent)
      .takeWhile(_ != null)
      .map(_.resolve("tests/peers/spark-join-suites.md"))
      .find(Files.exists(_))
      .get
    Files.readString(file).split("\n## ").tail.map { section =>
      val lines = section.linesIterator.toSeq
      val rows = lines.tail.filter(_.startsWith("| ")).drop(1)
      lines.head -> rows.flatMap(r => bothModes(r.split('|')(1).trim))
    }.toMap
  }

  private def bothModes(name: String): Seq[String] =
    if (name.endsWith(" - Append, Update")) {
      Seq("Append", "Update").map(name.stripSuffix("Append, Update") + _)
    } else Seq(name)

  test("each deviation names a test of Spark, and each only once") {
    val tests = suites.map(_.sparksTests).reduce(_ ++ _)
    assert(Deviations.all.map(_.test).filterNot(tests) === Nil)
    assert(Deviations.all.map(_.test).distinct.size === Deviations.all.size)
  }

  test("the page lists exactly the deviations of each kind under its heading") {
    assert(page("Joins that stay Spark's").sorted === Deviations.staySparks.map(_.test).sorted)
    assert(page("Other counts of state rows").sorted === Deviations.otherCounts.map(_.test).sorted)
    assert(page("Other rows").sorted === Deviations.otherRows.map(_.test).sorted)
  }

  test("the page states the number of unchanged tests and of all tests") {
    val tests = suites.map(_.sparksTests.size).sum
    val asTheyAre = tests - Deviations.all.size
    assert(page.contains(s"As they are: $asTheyAre of $tests"))
  }
}
