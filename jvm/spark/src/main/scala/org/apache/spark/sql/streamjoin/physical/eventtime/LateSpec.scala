package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.streamjoin.logical.plan.LateRows

/**
 * Specification of the late rows that the tasks of a join emit.
 *
 * @param zone the time zone in which watermarks are written
 */
private[streamjoin] final case class LateSpec(rows: LateRows, zone: String)
