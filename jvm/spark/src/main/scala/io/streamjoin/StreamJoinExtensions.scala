package io.streamjoin

import org.apache.spark.sql.streamjoin.api.ExtensionPoints
import org.apache.spark.sql.streamjoin.{RefuseQueries, Version}
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}

/**
 * The extension: name it in `spark.sql.extensions`, or only put the jar on `spark.jars`, which
 * registers it by itself.
 *
 * What it adds, in the order in which a query meets it; within a stage, in the order of the rules.
 *
 *  - Parsing. `StreamSqlParser`: windows on relations, `t OVER (RANGE ...)`, `SELECT STREAM`, arguments of the
 *    hint `STREAM_JOIN`, all written in Spark's own grammar.
 *  - Hint resolution, before Spark looks up functions and writes out stars.
 *    - `ResolveImposeOrder`: `IMPOSE_ORDER(TABLE(t), DESCRIPTOR(c), lag)` becomes a plan node.
 *    - `ResolveChangelogFunctions`: so do `FROM_CHANGELOG`, `FROM_UPSERTS` and `FROM_DEBEZIUM`.
 *    - `RefuseForeignFunctions`: functions of other SQL dialects are refused, with what to write.
 *    - `AwaitChangeColumns`: `_change_type` above a join of changelogs is that of the result.
 *    - `ResolveStreamWindow`: and windows on relations.
 *    - `ResolveStreamHints`: the hints `stream_join` and `impose_order` become plan nodes.
 *    - `AwaitAliases`: new names for all columns of a query wait for its joins, too.
 *    - `HoldHintedJoins`: what is above a join that adds columns waits for them.
 *    - `ExplainStream`: `EXPLAIN SELECT ...` of a stream shows what `df.explain()` shows.
 *    - `ResolvePendingPath`: the rows that wait, read as ``FROM `streamjoin-pending`.`/checkpoint` ``.
 *    - `ResolveChangelogJoin`, `InlineOrderedCTE`, `PlaceWindows`, `ResolveStreamJoin`, `ResolveStreamOrder`,
 *      `Changelogs.BeforeMode`: as below, for what was resolved before; Spark checks what it supports as soon as a query is
 *      resolved.
 *  - Resolution.
 *    - `ResolveSelectStream`: `SELECT STREAM id` is the column id, where there is no column STREAM.
 *    - `ResolveOrders`: an order becomes a watermark of its column, or is refused.
 *    - `InlineOrderedCTE`: common table expressions with an order come to their places.
 *    - `PlaceWindows`: windows and parts of WHERE become bounds of the lowest join that they bound.
 *    - `ResolveStreamSubqueries`: sub-queries over streams become semi and anti joins.
 *    - `ResolveChangelog`, `KeepChangeColumns`, `ResolveChangelogJoin`: joins of changelogs, before the event-time join, which takes
 *      each row for one that stays.
 *    - `AwaitChangeColumns.Release`, `AwaitAliases.Release`: `_change_type` and the names are given back.
 *    - `CompleteSums`: sums over changes that no join has made get both images of each.
 *    - `ResolveStreamJoin`: a join of streams with an imposed order becomes the event-time join, or is refused.
 *    - `RefuseWindowsInConditions`: a window made in a condition is refused before Spark finds another fault.
 *    - `ResolveRowtime`: `ROWTIME` is found.
 *    - `ResolveStreamOrder`: `ORDER BY` an event time becomes this project's, or is refused.
 *  - Post-hoc. `TimesAndNumbers`: a time beside a number is refused before Spark does, with what to write.
 *    `CheckBeforeSpark`: the checks of the next stage, before Spark adds the plan to their errors.
 *  - Check, of the whole query: `ResolveChangelogJoin.check`, `PlaceWindows.check`, `ResolveAwaitedJoin.check`,
 *    `CheckJoinHints`, `CheckOutputMode`, `ResolveStreamOrder.check`, `Changelogs`, `CheckSecondWatermark`, `RefuseStateReader`;
 *    then `WarnAtAnalysis`.
 *  - Normalization. `ResolveAwaitedJoin`: a join on which nothing was put becomes ours. `OneEventTime`:
 *    deduplication above a join sees one event time. `MarkResult`: joins of changelogs whose changes come out as they are.
 *  - Optimization. `PushFilterThroughStreamOrder`, `PushFilterThroughStreamJoin`, `PushFilterThroughAsOfJoin`,
 *    `PushFilterThroughUpserts`: filters go below an order, a join, an as-of join where that changes nothing, and below
 *    `toUpserts`, where both images of an update are. `PruneNestedColumns`: structs are cut down to what is asked for.
 *    `OrderInOnePartition`: above an order that is brought into one partition.
 *  - Planning. `StreamJoinStrategy`: the physical operators; a join of Spark's that keeps rows for ever, below or
 *    above an order, is refused. `ExplainBuiltinJoin`: why a join stayed Spark's.
 *    `PlanExchanges`: this project's exchange replaces Spark's below the operators.
 *
 * Beside the queries, `JoinListener` hands what joins report on to Spark's metrics system and, where rows are lost in
 * silence, to the driver's log.
 *
 * Applied twice, it changes nothing: every rule leaves alone what another copy of it has done.
 */
class StreamJoinExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit =
    Version.problem(org.apache.spark.SPARK_VERSION) match {
      case None          => ExtensionPoints.inject(extensions)
      case Some(problem) =>
        // Spark logs the exception and goes on if the jar alone is given
        extensions.injectHintResolutionRule(_ => RefuseQueries(problem))
        throw new IllegalStateException(problem)
    }
}
