package io.streamjoin

import java.nio.file.{Files, Paths}

import scala.jdk.CollectionConverters._

import org.scalatest.tools.Runner

/**
 * Runs the suites once for each planted fault, up to the first suite that fails. A run that does
 * not end is a failure, too: the process ends, and continues with the next fault if it is started
 * again. Those of the Spark part take long, so only the suites of the fault's package run.
 *
 * Arguments: the folder of the compiled suites, the seconds of one run, and the faults with the
 * package of each, as in `17=io.streamjoin.join.asof`.
 */
object PlantedFaults {

  def main(arguments: Array[String]): Unit = {
    val classes = Paths.get(arguments(0))
    val suites = {
      val found = Files.walk(classes)
      try found.iterator.asScala.map(classes.relativize(_).toString).toList
      finally found.close()
    }.filter(_.matches("[^$]*Suite.class")).map(_.stripSuffix(".class").replace('/', '.'))
    for (argument <- arguments.drop(2)) {
      val Array(fault, near) = argument.split("=")
      val (first, others) = suites.sorted.partition { suite =>
        suite.startsWith(s"$near.") || suite.endsWith(".RulesSuite")
      }
      val watch = new Watch(fault, arguments(1).toInt)
      Planted.chosen = fault.toInt
      val run = if (near.startsWith("io.streamjoin")) first ++ others else first
      val failed = run.find(!passes(classes.toString, _))
      Planted.chosen = -1
      watch.end()
      println(s"$fault ${failed.getOrElse("survives")}")
    }
  }

  private def passes(classes: String, suite: String): Boolean =
    Runner.run(Array("-R", classes, "-s", suite, "-fW", "/dev/null"))

  /** Ends the process if a run takes too long. */
  private final class Watch(fault: String, seconds: Int) extends Thread {
    setDaemon(true)
    start()

    override def run(): Unit =
      try {
        Thread.sleep(seconds * 1000L)
        println(s"$fault does not end")
        Runtime.getRuntime.halt(3)
      } catch {
        case _: InterruptedException => ()
      }

    def end(): Unit = interrupt()
  }
}
