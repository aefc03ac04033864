package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.execution.SparkPlan

/** An operator that knows its inputs as they are run. */
private[physical] trait ReadsInputs {

  /** What its tasks read from. */
  def read: Seq[SparkPlan]
}
