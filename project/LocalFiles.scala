import sbt._
import sbt.Keys._

/**
 * The file system of tests and benchmarks. Hadoop's own starts processes for each file that it makes,
 * a third of all that a streaming test costs; this one does the same without.
 */
object LocalFiles {
  val stageTestJars = taskKey[File]("Copies jars that the Python tests need.")

  private val library = "com.globalmentor" % "hadoop-bare-naked-local-fs" % "0.1.0"

  private val flags = Seq(
    "fs.file.impl" -> "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    "spark.sql.streaming.checkpointFileManagerClass" ->
      "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
  ).map { case (name, value) => s"-Dspark.hadoop.$name=$value" }

  val atRuntime: Setting[_] = libraryDependencies += (library % Runtime).intransitive()

  val settings: Seq[Setting[_]] = Seq(
    libraryDependencies += (library % Test).intransitive(),
    Test / javaOptions ++= flags,
    stageTestJars := {
      val folder = (ThisBuild / baseDirectory).value / "tests" / "jars"
      IO.delete(folder)
      for (jar <- update.value.select(moduleFilter(library.organization, library.name)).distinct)
        IO.copyFile(jar, folder / jar.getName)
      val faultyFiles = (LocalProject("faults") / Compile / packageBin).value
      IO.copyFile(faultyFiles, folder / "faulty-files.jar")
      // not on the class path of the tests' sessions
      val core = (LocalProject("core") / Compile / packageBin).value
      IO.copyFile(core, folder / "core" / "core.jar")
      val coreTests = (LocalProject("core") / Test / packageBin).value
      IO.copyFile(coreTests, folder / "core" / "core-tests.jar")
      folder
    }
  )
}
