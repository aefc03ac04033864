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
  CheckWatermarkGroups,
  RefuseWindowsInConditions,
  TimesAndNumbers,
  WarnAtAnalysis
}
import org.apache.spark.sql.streamjoin.physical.{
  CapWatermarks,
  CheckCheckpoint,
  ExplainBuiltinJoin,
  PlanExchanges,
  PlanRealTime,
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

/** Registers the rules of this project with Spark: one [[Phase]] for each stage of the analyzer. */
object ExtensionPoints {

  def inject(extensions: SparkSessionExtensions): Unit = {
    StreamJoinConditions.register()
    JoinListener.listen()
    parsing(extensions)
    extensions.injectHintResolutionRule(beforeResolution)
    extensions.injectResolutionRule(_ => resolution)
    extensions.injectPostHocResolutionRule(postHoc)
    extensions.injectCheckRule(session => plan => checks(session).foreach(_(plan)))
    extensions.injectCheckRule(_ => new WarnAtAnalysis)
    extensions.injectPlanNormalizationRule(_ => normalization)
    planning(extensions)
  }

  private def parsing(extensions: SparkSessionExtensions): Unit = {
    extensions.injectFunction(VersionFunction.description)
    extensions.injectFunction(JoinsFunction.description)
    DescribedFunctions.all.foreach(extensions.injectTableFunction)
    extensions.injectParser((_, parser) => StreamSqlParser.around(parser))
  }

  private def beforeResolution(session: SparkSession): Phase = new Phase(
    "before resolution",
    // before Spark looks up functions: DESCRIPTOR is not a function
    ResolveTableFunctions,
    RefuseForeignFunctions(session),
    HoldNames,
    ResolveStreamHints,
    MarkLastRows,
    // before Spark expands a star
    HoldHintedJoins,
    ExplainStream(session),
    // before Spark looks for a file format with this name
    ResolvePendingPath(session),
    ResolveChangelogJoin.SecondStep,
    // Spark checks for unsupported stream-stream joins as soon as a query is resolved
    operators,
    Changelogs.BeforeMode
  )

  /** The rules that build this project's operators from resolved parts of a query. */
  private[api] val operators: Phase = new Phase(
    "operators",
    // the parts that a join inspects first: orders on its inputs, windows, bounds in WHERE
    ResolveOrders,
    InlineOrderedCTE,
    ReplaceAsOfJoin,
    PlaceWindows,
    ResolveStreamSubqueries,
    // before the event-time join, which treats each row as an insert
    ResolveChangelog,
    ResolveChangelogJoin,
    HoldNames.Release,
    CompleteSums,
    ResolveStreamJoin,
    ResolveStreamOrder
  )

  /** The operators, and the rules that run only after Spark has looked up names. */
  private val resolution: Phase = new Phase(
    "resolution",
    ResolveOrders.OfTables,
    operators,
    RefuseWindowsInConditions,
    ResolveSelectStream,
    ResolveRowtime
  )

  private def postHoc(session: SparkSession): Phase = new Phase(
    "post-hoc resolution",
    TimesAndNumbers,
    // the checkpoint last: this check plans the query
    new CheckBeforeSpark(checks(session) :+ new CheckCheckpoint(session))
  )

  /** Checks of a whole query, in this order. */
  private[api] def checks(session: SparkSession): Seq[LogicalPlan => Unit] = Seq(
    ResolveChangelogJoin.Check,
    PlaceWindows.Check,
    ResolveAwaitedJoin.Check,
    CheckJoinHints,
    CheckOutputMode,
    ResolveStreamOrder.Check,
    Changelogs,
    CheckSecondWatermark,
    CheckWatermarkGroups,
    RefuseStateReader(session)
  )

  private val normalization: Phase = new Phase(
    "normalization",
    ResolveAwaitedJoin,
    OneEventTime,
    // for a whole query: the nodes above a join decide
    MarkResult
  )

  /** The rules of the optimizer by themselves, so that `excludedRules` can name each of them. */
  private def planning(extensions: SparkSessionExtensions): Unit = {
    extensions.injectOptimizerRule(_ => PushFilters)
    extensions.injectOptimizerRule(_ => PruneNestedColumns)
    extensions.injectOptimizerRule(_ => OrderInOnePartition)
    extensions.injectPlannerStrategy(StreamJoinStrategy(_))
    extensions.injectColumnar(_ => ExplainBuiltinJoin)
    extensions.injectColumnar(_ => CapWatermarks)
    extensions.injectColumnar(_ => PlanRealTime)
    extensions.injectColumnar(_ => PlanExchanges)
  }
}
