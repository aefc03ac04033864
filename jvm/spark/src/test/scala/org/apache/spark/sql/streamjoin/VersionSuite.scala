package org.apache.spark.sql.streamjoin

import org.scalatest.funsuite.AnyFunSuite

/** The Spark versions that the jar refuses, and the error text. */
class VersionSuite extends AnyFunSuite {

  test("each release of the supported minor versions is accepted") {
    for (running <- Seq("4.2.0", "4.2.1", "4.3.0", org.apache.spark.SPARK_VERSION))
      assert(Version.problem(running).isEmpty, running)
  }

  test("an unsupported minor version is refused with the jar to use") {
    val problem = Version.problem("4.1.4").get
    assert(problem.contains("runs on Spark 4.2 and 4.3, but this is Spark 4.1.4"))
    assert(problem.contains("python -m streamjoin jar --spark 4.1"))
  }

  test("Spark 4.0.0 is refused with the lowest supported release") {
    assert(Version.problem("4.0.0").contains(
      s"streamjoin ${Version.current} needs Spark 4.0.1 or later, but this is Spark 4.0.0."
    ))
  }
}
