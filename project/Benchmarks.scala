import sbt._
import sbt.Keys._

/** Hands the benchmarks' jars to the driver: one folder an engine is its class path. */
object Benchmarks {
  val stageBenchmarks =
    taskKey[File]("Copies the jars that an engine's process needs, but for Spark's own.")

  private val flinkVersion = "2.3.0"
  private val flinkKafkaVersion = "5.0.0-2.2"
  private val hazelcastVersion = "5.7.0"
  private val profilerVersion = "4.6"

  val settings: Seq[Setting[_]] = Seq(
    publish / skip := true,
    libraryDependencies += "tools.profiler" % "async-profiler" % profilerVersion % Runtime,
    stageBenchmarks := {
      val folder =
        (LocalRootProject / baseDirectory).value / "benchmarks" / "jars" / baseDirectory.value.getName
      IO.delete(folder)
      (Runtime / fullClasspathAsJars).value.map(_.data).foreach(j =>
        IO.copyFile(j, folder / j.getName)
      )
      folder
    }
  )

  val flink: Seq[Setting[_]] = Seq(
    libraryDependencies ++= Seq(
      "flink-clients",
      "flink-connector-base",
      "flink-json",
      "flink-table-api-java-bridge",
      "flink-table-planner-loader",
      "flink-table-runtime",
      "flink-statebackend-rocksdb"
    ).map("org.apache.flink" % _ % flinkVersion),
    libraryDependencies += "org.apache.flink" % "flink-connector-kafka" % flinkKafkaVersion
  )

  val hazelcast: Seq[Setting[_]] = Seq(
    libraryDependencies ++= Seq("hazelcast", "hazelcast-sql")
      .map("com.hazelcast" % _ % hazelcastVersion)
  )
}
