package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.execution.SparkPlan

/** A node that knows the sources of its rows, also in a batch to which they bring none. */
private[physical] trait FromSources extends SparkPlan {
  def sources: Seq[String]
}

private[physical] object FromSources {

  /** The sources of an input: those of the uppermost node that knows them. */
  def of(input: SparkPlan): Seq[String] =
    input.collectFirst { case node: FromSources => node.sources }.getOrElse(Nil)
}
