package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

/**
 * How late rows come out of a join.
 *
 * @param column the one that says why
 * @param below those by which late rows of joins below come in
 * @param sharedKeys equalities of columns of which one copy is shown
 * @param zone the time zone in which watermarks are written
 */
private[streamjoin] final case class LateSpec(
    column: Attribute,
    below: Seq[Attribute],
    sharedKeys: Seq[Expression],
    zone: String
)
