package org.apache.spark.sql.streamjoin.logical.resolve

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.{ChangelogErrors, StreamJoinAnalysisException}
import org.apache.spark.sql.streamjoin.logical.plan.{
  ChangelogJoin,
  OfChanges,
  PassedColumn,
  SameRows
}

/**
 * `explode` and other generators above the result of a changelog join: of a row that goes they make the very rows that they
 * made of it when it came. What they make of both images of an update is netted above them, as rows without a key.
 */
private[resolve] object ExplodedChanges {

  /** Why a generator cannot stand where it does; none: it can. */
  def refusal(g: Generate): Option[StreamJoinAnalysisException] =
    ofResult(g.child).orElse(unsteady(g))

  /** Whole images come out of a join; a declaration and `toUpserts` may give one image of two. */
  private def ofResult(plan: LogicalPlan): Option[StreamJoinAnalysisException] = plan match {
    case _: ChangelogJoin => None
    case p @ Project(list, child) =>
      val below = OfChanges.in(child)
      val passed = list.filter(PassedColumn.of(_).exists(below.passed.contains))
      list.find(e => below.tells(e) && !passed.contains(e))
        .map(e =>
          refused(
            p,
            s"${ColumnNames.sql(e)}, below a generator, tells of a change and not of its row"
          )
        )
        .orElse(ofResult(child))
    case f: Filter                 => filtered(f).orElse(ofResult(f.child))
    case u: Union                  => u.children.flatMap(ofResult).headOption
    case _: Generate | SameRows(_) => ofResult(plan.children.head)
    case other =>
      Some(ChangelogErrors.unsupportedChangelog(
        other.origin,
        "a generator stands above changes that are not the result of a join, of which one may come without the image that " +
          "it replaces",
        "it on the input below the declaration, or above a join"
      ))
  }

  /** A filter above generators, which Spark may put below them. */
  def filtered(f: Filter): Option[StreamJoinAnalysisException] =
    Option.when(OfChanges.in(f.child).tells(f.condition))(
      refused(
        f,
        s"the filter ${ColumnNames.sql(f.condition)}, beside a generator, goes by the change and not by its row"
      )
    )

  private def unsteady(g: Generate): Option[StreamJoinAnalysisException] =
    Option.when(
      OfChanges.in(g.child).tells(g.generator) || g.generator.containsPattern(CURRENT_LIKE)
    )(
      refused(
        g,
        s"the generator ${ColumnNames.sql(g.generator)} above changes may make other rows of one that goes than it made when it came"
      )
    )

  private def refused(plan: LogicalPlan, reason: String) =
    ChangelogErrors.unsupportedChangelog(
      plan.origin,
      reason,
      "it by columns of the rows, or in foreachBatch, where the changes of a batch are rows as any"
    )
}
