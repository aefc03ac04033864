import sbt._
import sbt.Keys._

/** The jars that Spark needs for Delta's tables, for the example and its test. */
object Delta {
  val stageDelta = taskKey[File]("Copies the jars of Delta.")

  private val Tables = config("tables")
  private val version = "4.4.0"

  // Of Spark 4.3 there is none.
  private val sparks = Seq("4.0", "4.1", "4.2")

  val settings: Seq[Setting[_]] = Seq(
    publish / skip := true,
    ivyConfigurations += Tables,
    // What else these depend on Spark carries itself, or only catalogs need that are not used.
    libraryDependencies ++= (
      ("io.delta" % "delta-storage" % version % Tables) +:
        sparks.map(spark => "io.delta" %% s"delta-spark_$spark" % version % Tables)
    ).map(_.intransitive()),
    stageDelta := {
      val folder = baseDirectory.value / "jars"
      IO.delete(folder)
      for (jar <- update.value.select(configurationFilter(Tables.name)).distinct)
        IO.copyFile(jar, folder / jar.getName)
      folder
    }
  )
}
