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
