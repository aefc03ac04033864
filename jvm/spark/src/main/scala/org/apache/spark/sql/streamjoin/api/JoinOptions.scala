package org.apache.spark.sql.streamjoin.api

/**
 * What can be said of a join beside its condition and its type.
 *
 * @param retention for how long rows are kept that the condition does not bound; none: as the session says
 * @param emitLate whether late rows come out, with a column that says why, instead of being dropped
 */
final case class JoinOptions(retention: Option[String] = None, emitLate: Boolean = false)

object JoinOptions {

  /** As Python has them; either may be null. */
  def of(retention: String, late: String): JoinOptions =
    JoinOptions(Option(retention), late == "emit")
}
