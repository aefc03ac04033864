package org.apache.spark.sql.streamjoin.api

import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.checkpoint.pending.{
  JoinsFunction,
  RefuseStateReader,
  ResolvePendingPath
}
import org.apache.spark.sql.streamjoin.errors.StreamJoinConditions
import org.apache.spark.sql.streamjoin.logical.optimize.{
  OrderInOnePartition,
  PruneNestedColumns,
  PushFilters
}
import org.apache.spark.sql.streamjoin.logical.resolve.analyzer.{
  CheckJoinHints,
  HoldHintedJoins,
  HoldNames,
  InlineOrderedCTE,
  MarkLastRows,
  PlaceWindows,
  ReplaceAsOfJoin,
  ResolveAwaitedJoin,
  ResolveChangelog,
  ResolveChangelogJoin,
  ResolveRowtime,
  ResolveStreamJoin,
  ResolveStreamOrder,
  ResolveStreamSubqueries
}
import org.apache.spark.sql.streamjoin.logical.resolve.changelog.{
  Changelogs,
  CompleteSums,
  MarkResult
}
import org.apache.spark.sql.streamjoin.logical.resolve.eventtime.OneEventTime
import org.apache.spark.sql.streamjoin.logical.resolve.orders.ResolveOrders
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.{
  CheckBeforeSpark,
  CheckOutputMode,
  CheckSecondWatermark,
  RefuseWindowsInConditions,
  TimesAndNumbers,
  WarnAtAnalysis
}
import org.apache.spark.sql.streamjoin.physical.{
  CheckCheckpoint,
  ExplainBuiltinJoin,
  PlanExchanges,
  StreamJoinStrategy
}
import org.apache.spark.sql.streamjoin.reporting.JoinListener
import org.apache.spark.sql.streamjoin.sql.{
  DescribedFunctions,
  ExplainStream,
  RefuseForeignFunctions,
  ResolveSelectStream,
  ResolveStreamHints,
  ResolveTableFunctions,
  StreamSqlParser
}

/** Registers the rules of this project with Spark. */
object ExtensionPoints {

  def inject(extensions: SparkSessionExtensions): Unit = {
    StreamJoinConditions.register()
    JoinListener.listen()
    parsing(extensions)
    beforeResolution(extensions)
    resolution(extensions)
    ofResolvedQueries(extensions)
    planning(extensions)
  }

  private def parsing(extensions: SparkSessionExtensions): Unit = {
    extensions.injectFunction(VersionFunction.description)
    extensions.injectFunction(JoinsFunction.description)
    DescribedFunctions.all.foreach(extensions.injectTableFunction)
    extensions.injectParser((_, parser) => StreamSqlParser.around(parser))
  }

  private def beforeResolution(extensions: SparkSessionExtensions): Unit = {
    // before Spark looks up functions: DESCRIPTOR is not a function
    extensions.injectHintResolutionRule(_ => ResolveTableFunctions)
    extensions.injectHintResolutionRule(RefuseForeignFunctions(_))
    extensions.injectHintResolutionRule(_ => HoldNames)
    extensions.injectHintResolutionRule(_ => ResolveStreamHints)
    extensions.injectHintResolutionRule(_ => MarkLastRows)
    // before Spark expands a star
    extensions.injectHintResolutionRule(_ => HoldHintedJoins)
    extensions.injectHintResolutionRule(ExplainStream(_))
    // before Spark looks for a file format with this name
    extensions.injectHintResolutionRule(ResolvePendingPath(_))
  }

  private def resolution(extensions: SparkSessionExtensions): Unit = {
    extensions.injectResolutionRule(_ => ResolveSelectStream)
    // the parts that a join inspects first: orders on its inputs, windows, bounds in WHERE
    extensions.injectResolutionRule(_ => ResolveOrders)
    extensions.injectResolutionRule(_ => InlineOrderedCTE)
    extensions.injectResolutionRule(_ => ReplaceAsOfJoin)
    extensions.injectResolutionRule(_ => PlaceWindows)
    extensions.injectResolutionRule(_ => ResolveStreamSubqueries)
    // before the event-time join, which treats each row as an insert
    extensions.injectResolutionRule(_ => ResolveChangelog)
    extensions.injectResolutionRule(_ => ResolveChangelogJoin)
    extensions.injectResolutionRule(_ => HoldNames.Release)
    extensions.injectResolutionRule(_ => CompleteSums)
    extensions.injectResolutionRule(_ => ResolveStreamJoin)
    extensions.injectResolutionRule(_ => RefuseWindowsInConditions)
    extensions.injectResolutionRule(_ => ResolveRowtime)
    extensions.injectResolutionRule(_ => ResolveStreamOrder)
    extensions.injectPostHocResolutionRule(_ => TimesAndNumbers)
    // the checkpoint last: this check plans the query
    extensions.injectPostHocResolutionRule(session =>
      new CheckBeforeSpark(checks(session) :+ new CheckCheckpoint(session))
    )
    extensions.injectCheckRule(session => plan => checks(session).foreach(_(plan)))
    extensions.injectCheckRule(_ => new WarnAtAnalysis)
  }

  /** Spark checks for unsupported stream-stream joins as soon as a query is resolved. */
  private def ofResolvedQueries(extensions: SparkSessionExtensions): Unit = {
    extensions.injectHintResolutionRule(_ => ResolveChangelogJoin.SecondStep)
    extensions.injectHintResolutionRule(_ => InlineOrderedCTE)
    extensions.injectHintResolutionRule(_ => PlaceWindows)
    extensions.injectHintResolutionRule(_ => ResolveStreamJoin)
    extensions.injectHintResolutionRule(_ => ResolveStreamOrder)
    extensions.injectHintResolutionRule(_ => Changelogs.BeforeMode)
  }

  private def planning(extensions: SparkSessionExtensions): Unit = {
    extensions.injectPlanNormalizationRule(_ => ResolveAwaitedJoin)
    extensions.injectPlanNormalizationRule(_ => OneEventTime)
    // for a whole query: the nodes above a join decide
    extensions.injectPlanNormalizationRule(_ => MarkResult)
    extensions.injectOptimizerRule(_ => PushFilters)
    extensions.injectOptimizerRule(_ => PruneNestedColumns)
    extensions.injectOptimizerRule(_ => OrderInOnePartition)
    extensions.injectPlannerStrategy(StreamJoinStrategy(_))
    extensions.injectColumnar(_ => ExplainBuiltinJoin)
    extensions.injectColumnar(_ => PlanExchanges)
  }

  /** Checks of a whole query, in this order. */
  private def checks(session: SparkSession): Seq[LogicalPlan => Unit] = Seq(
    ResolveChangelogJoin.check,
    PlaceWindows.check,
    ResolveAwaitedJoin.check,
    CheckJoinHints,
    CheckOutputMode,
    ResolveStreamOrder.check,
    Changelogs,
    CheckSecondWatermark,
    RefuseStateReader(session)
  )
}
