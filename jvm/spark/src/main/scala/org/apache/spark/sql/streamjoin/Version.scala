package org.apache.spark.sql.streamjoin

import java.util.Properties

/** The version of this jar, and the versions of Spark it runs on. */
object Version {

  val current: String = {
    val properties = new Properties
    val in = getClass.getResourceAsStream("/streamjoin.properties")
    try properties.load(in)
    finally in.close()
    properties.getProperty("version")
  }

  private val supported = Seq("4.2", "4.3")

  /** Fails where the jar has not been built for the running Spark. */
  def requireSpark(running: String): Unit =
    if (!supported.contains(running.split('.').take(2).mkString("."))) {
      throw new IllegalStateException(
        s"streamjoin $current runs on Spark ${supported.mkString(" and ")}; this is Spark $running. " +
          "Install a Spark of these versions, or a streamjoin made for this one."
      )
    }
}
