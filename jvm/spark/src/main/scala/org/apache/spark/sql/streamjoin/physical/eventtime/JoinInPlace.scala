package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.execution.SparkPlan

/** A join that may leave rows where the topics of its inputs have them. */
private[eventtime] trait JoinInPlace extends SparkPlan {

  /** Whether it does: what comes out of a partition has come in there. */
  private[eventtime] def staysInPlace: Boolean
}
