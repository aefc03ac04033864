import SparkVersions.sparkVersion

ThisBuild / scalaVersion := "2.13.18"

inThisBuild(SparkVersions.inBuild)

commands += SparkVersions.forEachSpark

lazy val strict = Seq(
  "-deprecation",
  "-feature",
  "-unchecked",
  "-release:17",
  "-Xlint:_,-byname-implicit,-missing-interpolator",
  "-Wunused:imports,privates,locals,implicits",
  "-Werror"
)

lazy val scalaTest = Seq(
  "org.scalatest" %% "scalatest" % "3.2.19" % Test,
  "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test
)

inThisBuild(Publishing.everywhere)

lazy val root = (project in file("."))
  .aggregate(core, spark, benchmarks, benchmarksSpark, faults)
  .settings(PythonPackage.settings, Publishing.nowhere)

// Compiled without Spark on its class path, so it cannot depend on Spark.
lazy val core = (project in file("jvm/core"))
  .settings(
    Publishing.nowhere,
    name := "streamjoin-core",
    scalacOptions ++= strict,
    libraryDependencies ++= scalaTest
  )

// One jar has both: `spark-submit --jars` takes a single file.
lazy val spark = (project in file("jvm/spark"))
  .dependsOn(core % "provided->compile;test->test")
  .settings(
    LocalFiles.settings,
    Publishing.withInside(core),
    SparkVersions.settings,
    scalacOptions ++= strict,
    // Spark's own suites of joins, on this project's operator
    OwnJvm.settings(JvmFlags.forShortQueries, _.contains(".builtin.Spark")),
    libraryDependencies ++= scalaTest ++ Seq(
      "org.apache.spark" %% "spark-sql" % sparkVersion.value % Provided,
      "org.apache.spark" %% "spark-sql" % sparkVersion.value % Test classifier "tests",
      "org.apache.spark" %% "spark-catalyst" % sparkVersion.value % Test classifier "tests",
      "org.apache.spark" %% "spark-core" % sparkVersion.value % Test classifier "tests"
    )
  )

lazy val benchmarks = (project in file("benchmarks/jvm/core"))
  .settings(Benchmarks.settings, scalacOptions ++= strict)

lazy val benchmarksSpark = (project in file("benchmarks/jvm/spark"))
  .dependsOn(benchmarks, spark % Test, core % Test)
  .settings(
    Benchmarks.settings,
    LocalFiles.atRuntime,
    scalacOptions ++= strict,
    OwnJvm.settings(JvmFlags.forShortQueries, thorough = _ => true),
    libraryDependencies ++= Seq(
      "org.apache.spark" %% "spark-sql" % sparkVersion.value % Provided,
      "org.scalatest" %% "scalatest" % "3.2.19" % Test
    )
  )

// Not among the aggregated: only who runs it needs Flink's jars.
lazy val benchmarksFlink = (project in file("benchmarks/jvm/flink"))
  .dependsOn(benchmarks)
  .settings(Benchmarks.settings, scalacOptions ++= strict, Benchmarks.flink)

// Nor is this, for Hazelcast's.
lazy val benchmarksHazelcast = (project in file("benchmarks/jvm/hazelcast"))
  .dependsOn(benchmarks)
  .settings(Benchmarks.settings, scalacOptions ++= strict, Benchmarks.hazelcast)

// The file system with injected faults, in the jars of the Python tests.
lazy val faults = (project in file("tests/faults/jvm"))
  .settings(
    Publishing.nowhere,
    name := "faulty-files",
    scalacOptions ++= strict,
    libraryDependencies += "org.apache.spark" %% "spark-sql" % SparkVersions.default % Provided
  )

// Nothing of it is compiled: a broker for the tests and for docker/, and Spark's connector to it.
lazy val kafka = (project in file("docker/kafka"))
  .settings(Kafka.settings(SparkVersions.default))

// Nor of this: what the tests with Delta's tables need.
lazy val delta = (project in file("tests/delta"))
  .settings(Delta.settings)
