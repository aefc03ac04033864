package org.apache.spark.sql.streamjoin

import java.util.Properties

/** The version of this jar, and the versions of Spark it runs on. */
object Version {

  private val properties: Properties = {
    val loaded = new Properties
    val in = getClass.getResourceAsStream("/streamjoin.properties")
    try loaded.load(in)
    finally in.close()
    loaded
  }

  val current: String = properties.getProperty("version")

  private val supported: Seq[String] = properties.getProperty("spark").split(',').toSeq

  /** Fails where the jar has not been built for the running Spark. */
  def requireSpark(running: String): Unit =
    if (!supported.contains(minor(running))) {
      val one = s"streamjoin-spark-${minor(running)}_2.13-$current.jar"
      throw new IllegalStateException(
        s"this jar of streamjoin $current runs on Spark ${supported.mkString(" and ")}; this is " +
          s"Spark $running. Use $one, or the jar that `python -m streamjoin.jar` prints"
      )
    }

  private def minor(version: String): String = version.split('.').take(2).mkString(".")
}
