package org.apache.spark.sql.streamjoin.logical.plan

/**
 * A column of an input that has other values in another time zone of the session. A row that is kept from
 * one zone would not be found, or be late, by what comes in another.
 *
 * @param column by name: plans are made anew, and ids with them
 * @param sql what depends on the zone
 * @param zones the session's
 */
private[streamjoin] final case class ZonedPart(column: String, sql: String, zones: Set[String])
