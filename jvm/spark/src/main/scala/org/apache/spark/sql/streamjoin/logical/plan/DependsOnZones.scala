package org.apache.spark.sql.streamjoin.logical.plan

/** A join whose bounds may be others in another time zone of the session. */
private[streamjoin] trait DependsOnZones {

  /** The zones of the session on which its bounds depend, and those of joins below. Valid once resolved. */
  def zones: Set[String]
}
