package org.apache.spark.sql.streamjoin.logical.plan.analysis

import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, UnaryNode}
import org.apache.spark.sql.streamjoin.logical.plan.PassesTimes
import org.apache.spark.sql.streamjoin.logical.times.InputColumns

/**
 * Logical node on an input of a join or an ordered output that keeps the nullability of the
 * analyzed query, also of fields and elements.
 *
 * Spark optimizes one batch at a time. If a branch of a union has no rows in a batch, Spark may
 * infer that a column is never NULL, and simplify the join condition, or read a NULL as 0. But the
 * join also matches rows of other batches, and an ordered output emits them. For the same reason
 * the node stores which parts depend on the time zone.
 *
 * @param columns its columns in the analyzed query
 * @param zoned the parts of the columns that depend on the session time zone
 * @param sources the sources of its rows in their order, also those without rows in a batch
 * @param orders the imposed orders below, with their sources
 */
case class StreamJoinInput(
    columns: Seq[AnalyzedColumn],
    zoned: Seq[ZonedPart],
    sources: Seq[InputSource],
    orders: Seq[OrderSource],
    child: LogicalPlan
) extends PassesTimes {

  override lazy val output: Seq[Attribute] = AnalyzedColumn.typed(child.output, columns)

  override protected def stringArgs: Iterator[Any] = {
    val never = output.filterNot(_.nullable)
    if (never.isEmpty) Iterator.empty else Iterator(never.mkString("never null: ", ", ", ""))
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): StreamJoinInput =
    copy(child = newChild)
}

private[streamjoin] object StreamJoinInput {

  def of(
      input: LogicalPlan,
      zoned: Seq[ZonedPart] = Nil,
      sources: Seq[InputSource] = Nil,
      origins: Map[ExprId, ColumnOrigin] = Map.empty,
      orders: Seq[OrderSource] = Nil
  ): StreamJoinInput = StreamJoinInput(
    input.output.map { a =>
      val origin = origins.getOrElse(a.exprId, ColumnOrigin(Set.empty, 1)())
      AnalyzedColumn(a, a.dataType, a.nullable, origin)
    },
    zoned,
    sources,
    orders,
    input
  )

  /** The parts of an input that depend on the time zone. */
  def zoned(input: LogicalPlan): Seq[ZonedPart] = in(input).fold(Seq.empty[ZonedPart])(_.zoned)

  /**
   * The input of a join as planned. It wraps the input again if the optimizer has put a node above
   * it.
   */
  def onTop(input: LogicalPlan): StreamJoinInput = input match {
    case i: StreamJoinInput => i
    case other              => in(other).fold(of(other))(_.copy(child = other))
  }

  private def in(input: LogicalPlan): Option[StreamJoinInput] = input match {
    case i: StreamJoinInput => Some(i)
    case u: UnaryNode       => in(u.child)
    case _                  => None
  }

  /** The input with a filter. The condition references output columns of the join. */
  def filtered(input: LogicalPlan, condition: Expression): LogicalPlan = input match {
    case i: StreamJoinInput => i.copy(child = filtered(i.child, condition))
    case other              => Filter(InputColumns.in(condition, other.output), other)
  }
}

/**
 * A streaming source of an input.
 *
 * @param name the name that the query gives it (`readStream.name`)
 * @param locations its format with its path, topic or table; one for each topic
 */
private[streamjoin] final case class InputSource(name: Option[String], locations: Seq[String]) {

  /** The texts that identify the source: its name, else its locations. */
  def identities: Seq[String] = name.fold(locations)(name => Seq(s"source $name"))
}

/**
 * A column of an input whose values depend on the session time zone. A row buffered in one zone
 * would be late, or not be found, in another.
 *
 * @param column the name of the column, since expression IDs differ in each plan
 * @param sql the expression that depends on the zone
 * @param zones the session time zones
 */
private[streamjoin] final case class ZonedPart(column: String, sql: String, zones: Set[String])
