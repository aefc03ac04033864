package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  EqualNullSafe,
  EqualTo,
  Expression,
  PredicateHelper
}
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, SubqueryAlias, View}
import org.apache.spark.sql.catalyst.trees.{Origin, SQLQueryContext}
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.StreamJoinInput
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{LastRows, RelationWindow}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Rowtime

import io.streamjoin.model.{BySide, Side}

/** Refuses an input without a watermarked event-time column, and explains how to declare one. */
private[streamjoin] object MissingWatermark extends PredicateHelper {

  def refusal(
      origin: Origin,
      side: Side,
      inputs: BySide[LogicalPlan],
      condition: Option[Expression]
  ): StreamJoinAnalysisException = {
    val input = inputs(side)
    val types = Rowtime.columns(inputs(side.other)).map(_.dataType)
    def wanted = if (types.isEmpty) "TIMESTAMP" else types.map(_.sql).distinct.mkString(" or ")
    val instead = LostOrder
      .of(input)
      .orElse(
        candidate(input, types.flatMap(TimeUnit.of(_)).toSet, condition).map(order(input, side, _))
      )
      .getOrElse(
        s"None of these columns can have a suitable watermark. Select a column of type $wanted " +
          "up to this join, and impose an order on it"
      )
    StreamJoinErrors.analysis(
      "MISSING_WATERMARK",
      origin,
      "side" -> side.name,
      "columns" -> input.output.map(ColumnNames.of).mkString(", "),
      "instead" -> instead
    )
  }

  private def order(input: LogicalPlan, side: Side, column: Attribute): String = {
    val (lag, interval) = exampleLag(column)
    val name = ColumnNames.written(Seq(column.name))
    val alias = ColumnNames.alias(input.output)
    val frame = alias.filter(a => ColumnNames.written(Seq(a)) == a).getOrElse(side.name)
    val table =
      relation(input).orElse(alias.map(a => ColumnNames.written(Seq(a)))).getOrElse(side.name)
    s"""Write $frame.imposeOrder("$name", $lag) or, in SQL, """ +
      s"IMPOSE_ORDER(TABLE($table), DESCRIPTOR($name), $interval)"
  }

  /** @return an example lag for a column, in Python and in SQL */
  def exampleLag(column: Attribute): (String, String) = TimeUnit.of(column.dataType) match {
    case Some(TimeUnit.Number) => ("100", "100")
    case Some(TimeUnit.Date)   => ("\"1 day\"", "INTERVAL '1' DAY")
    case _                     => ("\"1 minute\"", "INTERVAL '1' MINUTE")
  }

  /**
   * The column that the condition compares, or could compare, with the times of the other input.
   */
  private def candidate(
      input: LogicalPlan,
      units: Set[TimeUnit],
      condition: Option[Expression]
  ): Option[Attribute] = {
    val (equalities, others) = condition.toSeq.flatMap(splitConjunctivePredicates).partition {
      case _: EqualTo | _: EqualNullSafe => true
      case _                             => false
    }
    def mentioned(in: Seq[Expression]) = AttributeSet(in.flatMap(_.references))
    def isNumber(a: Attribute) = TimeUnit.of(a.dataType).contains(TimeUnit.Number)
    def isCompared(a: Attribute) = mentioned(others).contains(a)
    // a number that the condition does not bound may be a key or a price
    def fits(a: Attribute) = !TimeUnit.isWindow(a.dataType) && (!isNumber(a) || isCompared(a)) &&
      TimeUnit.of(a.dataType).exists(unit => units.isEmpty || units(unit))
    input.output
      .filter(fits)
      .sortBy(a => (!isCompared(a), isNumber(a), mentioned(equalities).contains(a)))
      .headOption
  }

  /** The argument of TABLE(...) for an input: its name, or the text of its query. */
  private def relation(input: LogicalPlan): Option[String] = input match {
    case SubqueryAlias(name, _: View) => Some(ColumnNames.written(name.qualifier :+ name.name))
    case SubqueryAlias(name, table: LeafNode) if name.qualifier.nonEmpty && table.isStreaming =>
      Some("SELECT * FROM STREAM " + ColumnNames.written(name.qualifier :+ name.name))
    case SubqueryAlias(_, child) => relation(child)
    case w: RelationWindow       => relation(w.child)
    case w: LastRows             => relation(w.child)
    case i: StreamJoinInput      => relation(i.child)
    case query =>
      Some(query.origin.context).collect {
        case c: SQLQueryContext
            if c.isValid && c.fragment.matches("(?is)\\s*\\(*\\s*(SELECT|FROM)\\b.*") =>
          c.fragment
      }
  }
}
