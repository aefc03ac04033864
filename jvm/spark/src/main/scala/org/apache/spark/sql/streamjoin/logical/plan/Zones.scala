package org.apache.spark.sql.streamjoin.logical.plan

/**
 * A column of an input whose values depend on the session time zone. A row buffered in one zone
 * would be late, or not be found, in another.
 *
 * @param column the name of the column, since expression IDs differ in each plan
 * @param sql the expression that depends on the zone
 * @param zones the session time zones
 */
private[streamjoin] final case class ZonedPart(column: String, sql: String, zones: Set[String])

/**
 * A join whose bounds may depend on the session time zone. A trait of its own, since the analysis of
 * a join asks the joins below, and may not refer to [[JoinNode]], which refers to the analysis.
 */
private[streamjoin] trait DependsOnZones {

  /**
   * The session time zones that its bounds depend on, and those of joins below. Valid once
   * resolved.
   */
  def zones: Set[String]
}
