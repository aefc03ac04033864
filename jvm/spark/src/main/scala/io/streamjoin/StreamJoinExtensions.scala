package io.streamjoin

import org.apache.spark.sql.streamjoin.api.ExtensionPoints
import org.apache.spark.sql.streamjoin.{RefuseQueries, Version}
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}

/**
 * The Spark session extension. Set it in `spark.sql.extensions`, or add the jar to `spark.jars`,
 * which registers it automatically.
 *
 * It adds these rules, listed by stage and in the order in which they run:
 *
 *  - Parsing. `StreamSqlParser` rewrites windows on relations, `t OVER (RANGE ...)`, `ASOF JOIN`,
 *    `SELECT STREAM` and the arguments of the hint `STREAM_JOIN` to Spark's own grammar.
 *  - Hint resolution, before Spark looks up functions and expands stars.
 *    - `ResolveTableFunctions`: `IMPOSE_ORDER(TABLE(t), DESCRIPTOR(c), lag)`, `FROM_CHANGELOG`,
 *      `FROM_UPSERTS`, `FROM_DEBEZIUM` and windows on relations become plan nodes.
 *    - `RefuseForeignFunctions` refuses functions of other SQL dialects, with what to write
 *      instead.
 *    - `HoldNames`: above joins, `_change_type` and new names for all columns of a query are
 *      resolved after the joins.
 *    - `ResolveStreamHints`: the hints `stream_join` and `impose_order` become plan nodes.
 *    - `MarkLastRows` hides the row kind of a changelog that is the right input of an as-of join.
 *    - `HoldHintedJoins`: nodes above a join that adds columns are resolved after the join.
 *    - `ExplainStream`: `EXPLAIN SELECT ...` of a stream prints the same as `df.explain()`.
 *    - `ResolvePendingPath`: buffered rows are read as
 *      ``FROM `streamjoin-pending`.`/checkpoint` ``.
 *    - `ResolveChangelogJoin.SecondStep` builds changelog joins that a DataFrame operation resolves
 *      in two steps.
 *    - The rules of the next stage that build operators run here as well, for the parts of a plan
 *      that are resolved already: Spark checks for unsupported operations as soon as a query is
 *      resolved. The other rules require names that Spark has looked up.
 *    - `Changelogs.BeforeMode` checks changes before Spark checks the output mode.
 *  - Resolution.
 *    - `ResolveOrders.OfTables` removes the order of a table.
 *    - `ResolveOrders`: an order becomes a watermark of its column, or is refused.
 *    - `InlineOrderedCTE` inlines common table expressions with an order.
 *    - `ReplaceAsOfJoin` replaces the `ASOF JOIN` of two streams that Spark 4.3 parses.
 *    - `PlaceWindows` moves windows, match conditions and parts of WHERE into the lowest join that
 *      they bound.
 *    - `ResolveStreamSubqueries`: subqueries over streams become semi and anti joins.
 *    - `ResolveChangelog`, `ResolveChangelogJoin`: changelog joins. They run before the event-time
 *      join, which treats each row as an insert.
 *    - `HoldNames.Release` restores `_change_type` and the new names.
 *    - `CompleteSums`: sums over a changelog that is not the output of a join get both images of
 *      each update.
 *    - `ResolveStreamJoin`: a join of streams with an imposed order becomes the event-time join, or
 *      is refused.
 *    - `ResolveStreamOrder`: `ORDER BY` an event time becomes an ordered output, or is refused.
 *    - `RefuseWindowsInConditions` refuses a window in a condition before Spark reports another
 *      error.
 *    - `ResolveSelectStream`: `SELECT STREAM id` is the column `id`, if there is no column STREAM.
 *    - `ResolveRowtime` resolves `ROWTIME`.
 *  - Post-hoc.
 *    - `TimesAndNumbers` refuses a time combined with a number before Spark does, with what to
 *      write.
 *    - `CheckBeforeSpark` runs the checks of the next stage, before Spark adds the plan to their
 *      errors.
 *  - Check, of the whole query: `ResolveChangelogJoin.Check`, `PlaceWindows.Check`,
 *    `ResolveAwaitedJoin.Check`, `CheckJoinHints`, `CheckOutputMode`, `ResolveStreamOrder.Check`,
 *    `Changelogs`, `CheckSecondWatermark`, `CheckWatermarkGroups`, `RefuseStateReader`; then
 *    `WarnAtAnalysis`.
 *  - Normalization.
 *    - `ResolveAwaitedJoin` replaces joins of Spark that no earlier rule has replaced, such as one
 *      without a node above it.
 *    - `OneEventTime`: deduplication above a join gets exactly one event time.
 *    - `MarkResult` marks changelog joins whose changes the query emits unchanged.
 *  - Optimization.
 *    - `PushFilters` pushes filters below an order, a join, an as-of join or `toUpserts` if that
 *      does not change the result.
 *    - `PruneNestedColumns` prunes unused fields of structs.
 *    - `OrderInOnePartition` sorts in one partition below a node that gathers all rows.
 *  - Planning.
 *    - `StreamJoinStrategy` plans the physical operators. It refuses a join of Spark with unbounded
 *      state below or above an order.
 *    - `ExplainBuiltinJoin` explains why a join is still Spark's.
 *    - `CapWatermarks`: Spark's watermark of a column follows the order imposed on it.
 *    - `PlanRealTime` replaces event-time joins of a batch in real-time mode, and refuses what this
 *      mode does not support.
 *    - `PlanExchanges` replaces Spark's exchange below the operators.
 *
 * In addition, `JoinListener` passes the reports of joins to Spark's metrics system, and logs on
 * the driver if rows are lost silently.
 *
 * Applied twice, it has the same effect: each rule leaves the results of another copy unchanged.
 */
class StreamJoinExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit =
    Version.problem(org.apache.spark.SPARK_VERSION) match {
      case None          => ExtensionPoints.inject(extensions)
      case Some(problem) =>
        // if only the jar is given, Spark logs the exception and continues
        extensions.injectHintResolutionRule(_ => RefuseQueries(problem))
        throw new IllegalStateException(problem)
    }
}
