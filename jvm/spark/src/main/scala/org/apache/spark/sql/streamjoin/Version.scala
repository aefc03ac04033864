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

  /** The release of Spark 4.0 that lacks classes which the jar needs. */
  private val TooOld = "4.0.0"

  /** The reason why the jar does not run on a version of Spark; none: it does. */
  def problem(running: String): Option[String] = {
    val minor = running.split('.').take(2).mkString(".")
    if (running == TooOld)
      Some(s"streamjoin $current needs Spark 4.0.1 or later, but this is Spark $running.")
    else Option.unless(supported.contains(minor))(
      s"This jar of streamjoin $current runs on Spark ${supported.mkString(" and ")}, but this is " +
        s"Spark $running: use the jar that `python -m streamjoin jar --spark $minor` prints."
    )
  }
}
