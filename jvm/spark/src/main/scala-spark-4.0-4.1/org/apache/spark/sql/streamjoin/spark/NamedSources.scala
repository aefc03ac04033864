package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Names that a query gives its sources (`readStream.name`); this version of Spark has none. */
private[streamjoin] object NamedSources {

  def nameOf(leaf: LogicalPlan): Option[String] = None
}
