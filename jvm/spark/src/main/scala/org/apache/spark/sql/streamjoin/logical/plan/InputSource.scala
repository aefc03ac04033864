package org.apache.spark.sql.streamjoin.logical.plan

/**
 * A streaming source of an input.
 *
 * @param name the name that the query gives it (`readStream.name`)
 * @param locations its format with its path, topic or table; one for each topic
 */
private[streamjoin] final case class InputSource(name: Option[String], locations: Seq[String]) {

  /** The texts that identify the source: its name, else its locations. */
  def identities: Seq[String] = name.fold(locations)(name => Seq(s"source $name"))
}
