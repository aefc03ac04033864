import sbt._
import sbt.Keys._

/**
 * Suites that need a JVM with Spark's flags. `test` starts ScalaTest's own runner in it, whose exit
 * code tells how it went: of the two sockets by which sbt 1 and ScalaTest follow forked tests each
 * can be waited for without end, with every test passed (sbt's issue 9614, ScalaTest's 2434).
 * `testOnly` is sbt's.
 */
object OwnJvm {
  def settings(options: Seq[String]): Seq[Setting[_]] = Seq(
    Test / fork := true,
    Test / parallelExecution := false,
    Test / javaOptions ++= options,
    Test / test := Def.task {
      val suites = (Test / definedTestNames).value
      val classpath = (Test / fullClasspath).value.files.mkString(java.io.File.pathSeparator)
      val run = Seq("-classpath", classpath, "org.scalatest.tools.Runner", "-o") ++
        suites.flatMap(Seq("-s", _))
      val code = Fork.java((Test / forkOptions).value, run)
      if (code != 0)
        throw new MessageOnlyException(s"suites of ${name.value} failed, or none ran: $code")
    }.tag(Tags.ForkedTestGroup).value
  )
}
