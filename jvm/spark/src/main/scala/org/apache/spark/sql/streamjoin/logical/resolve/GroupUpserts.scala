package org.apache.spark.sql.streamjoin.logical.resolve

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.errors.ChangelogErrors
import org.apache.spark.sql.streamjoin.logical.plan.ChangelogMarks
import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

import io.streamjoin.join.changelog.ChangeKind

/**
 * An aggregation as an input of a changelog join: each row that comes out of it is the latest image of
 * its group. In update mode a group comes again when it changes, in append mode once.
 */
private[resolve] object GroupUpserts {

  /** The input as a changelog, where it is an aggregation with nothing but columns and filters above. */
  def of(input: LogicalPlan): LogicalPlan =
    if (isAggregation(input)) declared(input) else input

  private def isAggregation(plan: LogicalPlan): Boolean = plan match {
    case a: Aggregate => a.isStreaming && !ChangelogMarks.changesWithin(a)
    case _: Project | _: Filter | _: SubqueryAlias | _: View => isAggregation(plan.children.head)
    case _                                                   => false
  }

  private def declared(plan: LogicalPlan): LogicalPlan = plan match {
    case a: Aggregate => upserts(a)
    case Project(list, child) =>
      val below = declared(child)
      Project(list.map(known(_, below)) :+ ChangelogMarks.kind(below.output).get, below)
    case other => other.withNewChildren(other.children.map(declared))
  }

  /** With the marks of the columns below. */
  private def known(e: NamedExpression, below: LogicalPlan): NamedExpression =
    e.transform { case a: Attribute =>
      below.output.find(_.exprId == a.exprId).fold(a)(b => a.withMetadata(b.metadata))
    }.asInstanceOf[NamedExpression]

  private def upserts(a: Aggregate): LogicalPlan = {
    val places = a.groupingExpressions.map { group =>
      a.aggregateExpressions.find {
        case Alias(child, _) => child.semanticEquals(group)
        case e               => e.semanticEquals(group)
      }
    }
    if (places.isEmpty || places.exists(_.isEmpty)) {
      throw ChangelogErrors.unsupportedChangelog(
        a.origin,
        "an aggregation gives a row again whenever it changes, and not all columns of its groups come out",
        "groupBy(...) with these columns kept up to the join"
      )
    }
    val key = places.flatten.map(_.exprId)
    Project(
      a.output.map { c =>
        // under its own id: what is above goes on as it is
        if (!key.contains(c.exprId)) c
        else
          c.withMetadata(
            new MetadataBuilder().withMetadata(c.metadata)
              .putLong(ChangelogMarks.Key, key.indexOf(c.exprId).toLong).build()
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
}
