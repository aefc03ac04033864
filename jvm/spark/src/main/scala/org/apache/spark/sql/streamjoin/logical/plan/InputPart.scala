package org.apache.spark.sql.streamjoin.logical.plan

/**
 * What an input of a changelog join is made of, above its source: a row that came by it would not be found when it
 * goes by another, nor in another time zone of the session where it depends on that.
 *
 * @param column by name: plans are made anew, and ids with them; none: which rows there are
 * @param sql the expression, or the name of the column that it is
 * @param zones the session's, where it depends on that
 * @param lasts whether it has the same text at each start
 */
private[streamjoin] final case class InputPart(
    column: Option[String],
    sql: String,
    zones: Set[String],
    lasts: Boolean
)
