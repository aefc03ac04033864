package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.{ChangelogErrors, StreamJoinAnalysisException}
import org.apache.spark.sql.streamjoin.logical.plan.{OfChanges, PassedColumn, SameRows}

/**
 * `explode` and other generators, and UNPIVOT, above the result of a changelog join: of a row that goes they make the very rows
 * that they made of it when it came. What they make of both images of an update is netted above them, as rows without a key.
 */
private[resolve] object ExplodedChanges {

  /** What makes several rows of one. */
  def unapply(plan: UnaryNode): Option[UnaryNode] = plan match {
    case _: Generate | _: Expand => Some(plan)
    case _                       => None
  }

  /** Whether there is such above the joins and declarations of a plan. */
  def isIn(plan: LogicalPlan): Boolean = plan match {
    case ExplodedChanges(_)     => true
    case p if Declaration.is(p) => false
    case p                      => p.children.exists(isIn)
  }

  /** Why it cannot stand where it does; none: it can. */
  def refusal(exploded: UnaryNode): Option[StreamJoinAnalysisException] =
    ofResult(exploded.child).orElse(unsteady(exploded))

  /** Whole images come out of a join, and are declared without a key; else, and of `toUpserts`, one of two may come alone. */
  private def ofResult(plan: LogicalPlan): Option[StreamJoinAnalysisException] = plan match {
    case p if Declaration.is(p) && LastImages.areComplete(p) => None
    case p @ Project(list, child) =>
      val below = OfChanges.in(child)
      val passed = list.filter(PassedColumn.of(_).exists(below.passed.contains))
      list.find(e => below.tells(e) && !passed.contains(e))
        .map(e =>
          refused(
            p,
            s"${ColumnNames.sql(e)}, below a generator or UNPIVOT, tells of a change and not of its row"
          )
        )
        .orElse(ofResult(child))
    case f: Filter                             => filtered(f).orElse(ofResult(f.child))
    case u: Union                              => u.children.flatMap(ofResult).headOption
    case _: Generate | _: Expand | SameRows(_) => ofResult(plan.children.head)
    case other =>
      Some(ChangelogErrors.unsupportedChangelog(
        other.origin,
        "a generator or UNPIVOT stands above changes that are not the result of a join, and have a key, so that one may come " +
          "without the image that it replaces",
        "it on the input below the declaration, or above a join"
      ))
  }

  /** A filter above generators, which Spark may put below them. */
  def filtered(f: Filter): Option[StreamJoinAnalysisException] =
    Option.when(OfChanges.in(f.child).tells(f.condition))(
      refused(
        f,
        s"the filter ${ColumnNames.sql(f.condition)}, beside a generator or UNPIVOT, goes by the change and not by its row"
      )
    )

  private def unsteady(exploded: UnaryNode): Option[StreamJoinAnalysisException] = {
    val (below, columns) = (OfChanges.in(exploded.child), UnsteadyColumns.in(exploded.child))
    made(exploded).find(e => below.tells(e) || columns.of(e).nonEmpty).map(e =>
      refused(
        exploded,
        s"${WrittenOperator.name(exploded)} above changes may make other rows of one that goes than it made when it came, " +
          s"by ${columns.of(e).getOrElse(ColumnNames.sql(e))}"
      )
    )
  }

  /** Of what it makes its rows, but for the columns that go along with each. */
  private def made(exploded: UnaryNode): Seq[Expression] = exploded match {
    case g: Generate => Seq(g.generator)
    case e: Expand =>
      e.projections.flatMap(_.zip(e.output)).collect { case (from, to) if from != to => from }
    case _ => Nil
  }

  private def refused(plan: LogicalPlan, reason: String) =
    ChangelogErrors.unsupportedChangelog(
      plan.origin,
      reason,
      "it by columns of the rows, or in foreachBatch, where the changes of a batch are rows as any"
    )
}
