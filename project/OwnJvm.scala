import sbt._
import sbt.Keys._

/**
 * Suites that need a JVM with Spark's flags. `test` starts ScalaTest's own runner in two JVMs, each
 * with every other suite, because most suites keep one core busy. The exit code is the result:
 * sbt 1 and ScalaTest follow forked tests by two sockets, and each of them can wait without end
 * after the last test has passed (sbt's issue 9614, ScalaTest's 2434). `testOnly` is sbt's.
 */
object OwnJvm {
  val testThorough = taskKey[Unit]("Runs the suites that `test` leaves out.")

  private val jvms = 2

  /** @param thorough whether `test` leaves a suite out, because it takes long */
  def settings(
      flags: Seq[String],
      thorough: String => Boolean = _ => false
  ): Seq[Setting[_]] = Seq(
    Test / fork := true,
    Test / parallelExecution := false,
    Test / javaOptions ++= flags,
    Test / test := running(suite => !thorough(suite)).value,
    testThorough := running(thorough).value
  )

  private def running(chosen: String => Boolean): Def.Initialize[Task[Unit]] =
    Def.task {
      val suites = (Test / definedTestNames).value.filter(chosen).sorted.zipWithIndex
      val options = (Test / forkOptions).value
      val classpath = (Test / fullClasspath).value.files.mkString(java.io.File.pathSeparator)
      // The lines of the two JVMs mix: `I` repeats at the end which tests failed, with their suites.
      val runner = Seq("-classpath", classpath, "org.scalatest.tools.Runner", "-oI")
      val running = suites.groupBy(_._2 % jvms).values.toList.map { part =>
        Fork.java.fork(options, runner ++ part.flatMap(s => Seq("-s", s._1)))
      }
      val codes =
        try running.map(_.exitValue())
        finally running.foreach(_.destroy())
      if (codes.exists(_ != 0))
        throw new MessageOnlyException(s"suites of ${name.value} failed, or none ran: $codes")
    }.tag(Tags.ForkedTestGroup)
}
