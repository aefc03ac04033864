package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  JoinKind,
  JoinNode,
  StreamJoinHint,
  UnresolvedStreamJoin
}
import org.apache.spark.sql.streamjoin.logical.plan.options.LateRows
import org.apache.spark.sql.streamjoin.logical.resolve.asof.AsOfBuilder
import org.apache.spark.sql.streamjoin.logical.resolve.eventtime.{LateColumn, StreamJoinBuilder}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Refusal

/** Builds the logical node for a join that Spark has resolved, by its [[JoinKind]]. */
private[streamjoin] object JoinBuilder {

  /** Keeps the nodes above a join unresolved until the join is released. */
  def hold(j: Join): UnresolvedStreamJoin =
    UnresolvedStreamJoin(StreamJoinHint.held(j, held = true))

  /** Builds a join that waited in [[UnresolvedStreamJoin]], with the columns that it adds. */
  def released(held: LogicalPlan): LogicalPlan = held match {
    case p @ Project(_, j: Join) if isChangelog(j) => ResolveChangelogJoin.released(p, free(j))
    case p @ Project(columns, j: Join) =>
      if (addsColumns(j)) orThrow(built(j, columns, byNames = true)) else p.copy(child = free(j))
    case j: Join => if (addsColumns(j)) required(j) else free(j)
    case other   => throw new IllegalStateException(s"no join, but ${other.nodeName}")
  }

  /** @param retained whether a retention may replace missing bounds of the condition */
  def build(j: Join, retained: Boolean = true): Either[Refusal, LogicalPlan] =
    built(j, j.output, byNames = false, retained)

  /** The node of a join; throws if the join is refused. */
  def required(j: Join): LogicalPlan = orThrow(build(j))

  private def built(
      j: Join,
      columns: Seq[NamedExpression],
      byNames: Boolean,
      retained: Boolean = true
  ): Either[Refusal, LogicalPlan] = {
    val kind = JoinKind.of(j)
    def node(retained: Boolean, late: Option[LateRows]): Either[Refusal, JoinNode] =
      if (kind.contains(JoinKind.AsOf)) new AsOfBuilder(j).build(late)
      else StreamJoinBuilder.build(j, retained, late)
    kind match {
      case Some(JoinKind.Changelog) => Right(ResolveChangelogJoin.all(free(j)))
      case Some(JoinKind.OfTables)  => Right(ofTables(j, columns))
      case Some(_) if StreamJoinHint.emitsLate(j) =>
        LateColumn.emit(j, columns, byNames)(late => node(retained = true, Some(late)))
      case _ => node(retained, late = None)
    }
  }

  private def addsColumns(j: Join): Boolean =
    isChangelog(j) || StreamJoinHint.emitsLate(j) && JoinKind.required(j).nonEmpty

  private def isChangelog(j: Join): Boolean = JoinKind.of(j).contains(JoinKind.Changelog)

  /** Spark's own join, with the output columns of a join of streams. */
  private def ofTables(j: Join, columns: Seq[NamedExpression]): LogicalPlan = {
    val plain = StreamJoinHint.removed(j)
    if (!StreamJoinHint.emitsLate(j)) plain
    else LateColumn.empty(if (columns == j.output) plain else Project(columns, plain))
  }

  private def free(j: Join): Join = StreamJoinHint.held(j, held = false)

  private def orThrow(built: Either[Refusal, LogicalPlan]): LogicalPlan =
    built.fold(refusal => throw refusal.error, identity)
}
