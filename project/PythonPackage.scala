import sbt._
import sbt.Keys._

/** Hands the JVM side to the Python side: the wheel carries the packaged jar. */
object PythonPackage {
  val stagePython =
    taskKey[File]("Copies the packaged jar into the Python package, beside those for other Sparks.")

  val settings: Seq[Setting[_]] = Seq(
    stagePython := {
      val jar = (LocalProject("spark") / Compile / packageBin).value
      val jars = baseDirectory.value / "python" / "src" / "streamjoin" / "jars"
      val staged = jars / jar.getName
      val here = SparkVersions.sparkRange.value.name
      val others = SparkVersions.ranges.map(_.name).filter(_ != here)
        .map(other => jar.getName.replace(s"-spark-$here", s"-spark-$other"))
      IO.listFiles(jars).filterNot(old => others.contains(old.getName)).foreach(IO.delete(_))
      IO.copyFile(jar, staged)
      staged
    }
  )
}
