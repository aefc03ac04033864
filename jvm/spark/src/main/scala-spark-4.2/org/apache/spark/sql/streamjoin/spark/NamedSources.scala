package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.HasStreamingSourceIdentifyingName

/** Names of the sources of a query (`readStream.name`). */
private[streamjoin] object NamedSources {

  def nameOf(leaf: LogicalPlan): Option[String] = leaf match {
    case s: HasStreamingSourceIdentifyingName => s.sourceIdentifyingName.nameOpt
    case _                                    => None
  }
}
