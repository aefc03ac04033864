package org.apache.spark.sql.streamjoin.logical.resolve.shared

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode, Union}
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.SessionZone
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{StreamJoinInput, ZonedPart}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{JoinNode, KeyedWatermarks}
import org.apache.spark.sql.streamjoin.logical.times.DistinctAttributes

import io.streamjoin.model.BySide

/** Finds the columns of a stream that depend on the session time zone, down to its sources. */
private[resolve] object ZonedInput extends InputWalk[Zoned] {

  def of(input: LogicalPlan): Seq[ZonedPart] =
    named(input).collect { case (Some(column), z) => ZonedPart(column, z.sql, z.zones) }.distinct

  /** An input of a join with its properties. */
  def joined(input: LogicalPlan): StreamJoinInput =
    StreamJoinInput.of(
      input,
      of(input),
      InputSources.of(input),
      ColumnOrigins.of(input),
      OrderSources.of(input)
    )

  /** Both inputs of a join with distinct columns and keyed watermarks. */
  def joined(inputs: BySide[LogicalPlan]): BySide[StreamJoinInput] =
    DistinctAttributes.keep(inputs).map(input => joined(KeyedWatermarks.of(input)))

  override protected def own(e: Expression): Option[Zoned] = {
    val value = e match {
      case Alias(child, _) => child
      case other           => other
    }
    val zones = SessionZone.of(value)
    Option.when(zones.nonEmpty)(
      Zoned(ColumnNames.sql(value), zones, SessionZone.isParser(SessionZone.whole(value)))
    )
  }

  override protected def carried(what: Zoned, column: ExprId, reader: Expression): Option[Zoned] =
    Option.when(!what.parsed || SessionZone.readsInstant(reader, column))(
      what.copy(parsed = what.parsed && SessionZone.whole(reader).isInstanceOf[Attribute])
    )

  override protected def passes(plan: LogicalPlan): Boolean = plan match {
    case _: UnaryNode | _: Union => true
    case j: JoinNode             => j.kind.byEventTime
    case _                       => false
  }

  override protected def told(plan: LogicalPlan): Option[Seq[InputWalk.Found[Zoned]]] = plan match {
    case i: StreamJoinInput => Some(
        for (part <- i.zoned; a <- i.output if a.name == part.column)
          yield InputWalk.Found(Some(a.exprId), Zoned(part.sql, part.zones, parsed = false))
      )
    case _ => None
  }
}

/**
 * A value that depends on the time zone.
 *
 * @param sql the expression that depends on the zone
 * @param zones the session time zones
 * @param parsed whether the value is parsed from text; then only an instant in it depends on the
 *   zone
 */
private[resolve] final case class Zoned(sql: String, zones: Set[String], parsed: Boolean)
