package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.logical.plan.InputSource

/** Physical operator that knows the sources of its rows, also in a batch without rows. */
private[physical] trait FromSources extends SparkPlan {
  def sources: Seq[InputSource]
}

private[physical] object FromSources {

  /** The sources of an input, from the topmost node that knows them. */
  def of(input: SparkPlan): Seq[InputSource] =
    input.collectFirst { case node: FromSources => node.sources }.getOrElse(Nil)
}
