package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.logical.plan.{
  StreamJoin,
  StreamJoinHint,
  UnresolvedStreamJoin
}
import org.apache.spark.sql.streamjoin.logical.resolve.eventtime.{LateColumn, StreamJoinBuilder}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Refusal

/** A join with a [[StreamJoinHint]] becomes what was asked for. */
private[streamjoin] object HintedJoin {

  def emitsLate(j: Join): Boolean = StreamJoinHint.on(j).exists(_.emitLate)

  /** Whether options were asked of a join in which no stream takes part. */
  def isOfTables(j: Join): Boolean = StreamJoinHint.on(j).nonEmpty && !j.isStreaming

  /** Keeps what is above a join from being resolved until the join is released. */
  def hold(j: Join): UnresolvedStreamJoin =
    UnresolvedStreamJoin(StreamJoinHint.changed(j)(_.copy(held = true)))

  /** A join that was held, with the columns that it adds. */
  def released(held: LogicalPlan): LogicalPlan = held match {
    case p @ Project(_, j: Join) if hasChanges(j) => ResolveChangelogJoin.released(p, free(j))
    case j: Join if hasChanges(j)                 => ResolveChangelogJoin.all(free(j))
    case p @ Project(columns, j: Join) =>
      ours(j, columns, byNames = true).getOrElse(p.copy(child = free(j)))
    case j: Join => ours(j, j.output, byNames = false).getOrElse(free(j))
    case other   => throw new IllegalStateException(s"no join, but ${other.nodeName}")
  }

  /** A join of two streams, or of two tables, that Spark has resolved. */
  def ours(j: Join, retained: Boolean = true): Either[Refusal, LogicalPlan] =
    ours(j, j.output, byNames = false).fold[Either[Refusal, LogicalPlan]](
      StreamJoinBuilder.build(j, retained)
    )(Right(_))

  /** The same, or the error that it is refused with. */
  def required(j: Join): LogicalPlan = ours(j).fold(refusal => throw refusal.error, identity)

  /** With the columns that it adds; none where it adds none, or a table is joined with a stream. */
  private def ours(
      j: Join,
      columns: Seq[NamedExpression],
      byNames: Boolean
  ): Option[LogicalPlan] =
    if (hasChanges(j)) Some(ResolveChangelogJoin.all(free(j)))
    else if (isOfTables(j)) Some(ofTables(j, columns))
    else Option.when(emitsLate(j) && StreamJoin.isOrdered(j))(LateColumn.emit(j, columns, byNames))

  /** It stays Spark's, with the columns that a join of streams would have. */
  private def ofTables(j: Join, columns: Seq[NamedExpression]): LogicalPlan = {
    val plain = StreamJoinHint.changed(j)(_.child)
    if (!emitsLate(j)) plain
    else LateColumn.empty(if (columns == j.output) plain else Project(columns, plain))
  }

  /** Whether it is another join, whose rows come and go. */
  private def hasChanges(j: Join): Boolean = ResolveChangelogJoin.isOurs(free(j))

  private def free(j: Join): Join = StreamJoinHint.changed(j)(_.copy(held = false))
}
