package org.apache.spark.sql.streamjoin.logical.plan

/**
 * What an input of a changelog join has otherwise in another time zone of the session. A row that came
 * in one zone would not be found when it goes in another.
 *
 * @param column by name: plans are made anew, and ids with them; none: which rows there are
 * @param sql what depends on the zone
 * @param zones the session's
 */
private[streamjoin] final case class ZonedPart(
    column: Option[String],
    sql: String,
    zones: Set[String]
)
