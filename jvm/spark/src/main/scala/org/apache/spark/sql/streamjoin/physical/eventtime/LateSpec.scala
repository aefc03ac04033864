package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.streamjoin.logical.plan.LateRows

/**
 * The late rows that a join emits, for its tasks.
 *
 * @param zone the time zone in which watermarks are written
 */
private[streamjoin] final case class LateSpec(rows: LateRows, zone: String)
