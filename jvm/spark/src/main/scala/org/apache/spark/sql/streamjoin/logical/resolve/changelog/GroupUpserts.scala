package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  ExprId,
  Literal,
  NamedExpression,
  RowOrdering
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.ChangelogErrors
import org.apache.spark.sql.streamjoin.logical.plan.SameRows
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

import io.streamjoin.join.changelog.ChangeKind

/**
 * Turns an aggregation into an input of a changelog join. Each output row of the aggregation is the
 * latest version of its group. In update mode it emits a group again after a change, in append mode
 * once.
 */
private[resolve] object GroupUpserts {

  /** The input as a changelog, if it is an aggregation with only projections and filters above. */
  def of(input: LogicalPlan): LogicalPlan =
    if (!isAggregation(input)) input
    else {
      val made = declared(input)
      // without grouping columns that the query does not select
      LatestVersions.only(input.output ++ ChangelogMarks.kind(made.output), made)
    }

  private def isAggregation(plan: LogicalPlan): Boolean = plan match {
    case a: Aggregate => a.isStreaming && !ChangelogMarks.changesWithin(a)
    case d: Distinct =>
      d.isStreaming && !ChangelogMarks.changesWithin(d) &&
      !d.child.exists(p => p.isInstanceOf[Aggregate] && p.isStreaming)
    case _: Project | _: Filter | SameRows(_) => isAggregation(plan.children.head)
    case _                                    => false
  }

  private def declared(plan: LogicalPlan): LogicalPlan = plan match {
    case a: Aggregate    => upserts(a)
    case Distinct(child) => upserts(Aggregate(child.output, child.output, child))
    case Project(list, child) =>
      val below = declared(child)
      PropagatedMarks.ofInputs(Project(list :+ ChangelogMarks.kind(below.output).get, below))
    case other => other.withNewChildren(other.children.map(declared))
  }

  private def upserts(asked: Aggregate): LogicalPlan = {
    if (asked.groupingExpressions.isEmpty) {
      throw ChangelogErrors.unsupportedChangelog(
        asked.origin,
        "an aggregation without groups has one row, which has no key that identifies it",
        "groupBy(...), for example by a constant column"
      )
    }
    val (a, key) = withGroups(asked)
    for (c <- a.output if key.contains(c.exprId) && !RowOrdering.isOrderable(c.dataType))
      throw ChangelogErrors.unsupportedChangelog(
        asked.origin,
        s"groups by ${c.name}, of type ${c.dataType.sql}, have values that cannot be compared",
        "groups by values that can be compared: array_sort(map_entries(m)) instead of a map m"
      )
    Project(
      a.output.map(ChangelogMarks.unmarked).map { c =>
        // with its own expression ID, so that the nodes above remain valid
        if (!key.contains(c.exprId)) c
        else
          c.withMetadata(
            new MetadataBuilder().withMetadata(c.metadata)
              .putLong(ChangelogMarks.Key, key.indexOf(c.exprId).toLong)
              .putLong(ChangelogMarks.Group, 1L).build()
          )
      } :+ ChangelogMarks.marked(
        Literal(ChangeKind.Postimage.name),
        ChangelogMarks.ChangeType,
        Nil,
        Metadata.empty,
        ChangelogMarks.Kind -> key.length.toLong
      ),
      a
    )
  }

  /**
   * Adds the grouping columns that the aggregation does not output. Returns the IDs of all grouping
   * columns.
   */
  private def withGroups(a: Aggregate): (Aggregate, Seq[ExprId]) = {
    val groups: Seq[NamedExpression] = a.groupingExpressions.map { group =>
      a.aggregateExpressions.find {
        case Alias(child, _) => child.semanticEquals(group)
        case e               => e.semanticEquals(group)
      }.getOrElse(group match {
        case named: NamedExpression => named
        case other                  => Alias(other, ColumnNames.sql(other))()
      })
    }
    val hidden = groups.filterNot(a.aggregateExpressions.contains)
    val whole = a.copy(aggregateExpressions = a.aggregateExpressions ++ hidden)
    (whole, groups.map(_.exprId).distinct)
  }
}
