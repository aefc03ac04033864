package org.apache.spark.sql.streamjoin.logical.plan

/** A join whose bounds may depend on the session time zone. */
private[streamjoin] trait DependsOnZones {

  /**
   * The session time zones that its bounds depend on, and those of joins below. Valid once
   * resolved.
   */
  def zones: Set[String]
}
