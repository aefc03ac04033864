package org.apache.spark.sql.streamjoin.logical.plan

/**
 * An expression of an input of a changelog join above its source. If it changed between the insert
 * of a row and its delete, the delete would not find the row. The session time zone may change it,
 * too.
 *
 * @param column the name of the column, since expression IDs differ in each plan; none: a filter
 * @param sql the expression, or the name of the column
 * @param zones the session time zones that it depends on
 * @param lasts whether its text is the same at each start of the query
 */
private[streamjoin] final case class InputPart(
    column: Option[String],
    sql: String,
    zones: Set[String],
    lasts: Boolean
)
