import sbt._
import sbt.Keys._

/** Hands the JVM side to the Python side: the wheel carries the packaged jar. */
object PythonPackage {
  val stagePython =
    taskKey[File]("Copies the packaged jar into the Python package, as the only one of its range.")

  val settings: Seq[Setting[_]] = Seq(
    stagePython := {
      val jar = (LocalProject("spark") / Compile / packageBin).value
      val jars = baseDirectory.value / "python" / "src" / "streamjoin" / "jars"
      val staged = jars / jar.getName
      val range = (LocalProject("spark") / name).value
      IO.listFiles(jars, GlobFilter(s"${range}_*.jar")).foreach(IO.delete(_))
      IO.copyFile(jar, staged)
      staged
    }
  )
}
