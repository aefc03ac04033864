package org.apache.spark.sql.streamjoin

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.streamjoin.errors.StreamJoinConditions
import org.apache.spark.sql.streamjoin.logical.{
  PushFilterThroughStreamJoin,
  ResolveAwaitedJoin,
  ResolveStreamJoin
}
import org.apache.spark.sql.streamjoin.physical.{ExplainBuiltinJoin, StreamJoinStrategy}
import org.apache.spark.sql.streamjoin.sql.ResolveImposeOrder

/** Where the project's rules hook into Spark. */
object ExtensionPoints {

  def inject(extensions: SparkSessionExtensions): Unit = {
    StreamJoinConditions.register()
    // before Spark looks up functions, for DESCRIPTOR is none
    extensions.injectHintResolutionRule(ResolveImposeOrder(_))
    extensions.injectResolutionRule(_ => ResolveStreamJoin)
    // a query is checked for what Spark's own joins support as soon as it is resolved
    extensions.injectHintResolutionRule(_ => ResolveStreamJoin)
    extensions.injectPlanNormalizationRule(_ => ResolveAwaitedJoin)
    extensions.injectOptimizerRule(_ => PushFilterThroughStreamJoin)
    extensions.injectPlannerStrategy(StreamJoinStrategy(_))
    extensions.injectColumnar(_ => ExplainBuiltinJoin)
  }
}
