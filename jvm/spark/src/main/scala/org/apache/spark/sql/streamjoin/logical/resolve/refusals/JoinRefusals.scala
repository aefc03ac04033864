package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  CurrentCatalog,
  CurrentDatabase,
  CurrentUser,
  Expression,
  OuterReference,
  PythonFuncExpression,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.{RejectedBound, TimeUnit}
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin
import org.apache.spark.sql.streamjoin.logical.resolve.shared.{Distances, Refusal}

import io.streamjoin.model.{BySide, JoinType, Side}

/** Refuses joins whose state is not provably bounded, with the condition that would bound it. */
private[streamjoin] object JoinRefusals {

  /** The refusal of a join; none: it can run. */
  def of(join: StreamJoin): Option[Refusal] =
    ofCondition(join, join.condition)
      .orElse(Side.both.flatMap(ofWatermark(join, _)).headOption)
      .map(Refusal(_))
      .orElse(ofState(join))

  /** Refuses a join with a table. */
  def ofTable(join: Join): Option[StreamJoinAnalysisException] =
    Side.both.zip(join.children).collectFirst {
      case (side, table) if !table.isStreaming =>
        StreamJoinErrors.staticInput(join.origin, side.name, table.output.map(ColumnNames.of))
    }

  /** Refuses expressions that cannot be evaluated on the two rows of a pair alone. */
  def ofCondition(
      join: LogicalPlan,
      condition: Expression
  ): Option[StreamJoinAnalysisException] = {
    def refused(e: Expression, what: String, instead: String) =
      StreamJoinErrors.unsupportedCondition(join.origin, e, what, instead)
    condition.collectFirst {
      case s: SubqueryExpression =>
        refused(
          s,
          "a sub-query",
          "Join the table of the sub-query with an input below this join, or filter an input by " +
            "it. Write a single value as a constant"
        )
      case u: PythonFuncExpression
          if !join.children.exists(c => u.references.subsetOf(c.outputSet)) =>
        refused(
          u,
          "a Python function of columns of both inputs",
          "Use SQL functions, or filter the output of an inner join by this function"
        )
      case o: OuterReference =>
        refused(o, "a column of the outer query", "Write the comparison in WHERE of the sub-query")
      case s @ (_: CurrentUser | _: CurrentDatabase | _: CurrentCatalog) =>
        refused(s, "a value of the session", "Write the value as a constant")
      case t if t.children.isEmpty && t.containsPattern(CURRENT_LIKE) =>
        refused(t, "the current time", "Filter the output of an inner join by this expression")
      case e if !e.deterministic && e.children.forall(_.deterministic) =>
        refused(
          e,
          "an expression that is not deterministic",
          "Compute it as a column of one input, or filter the output of an inner join by it"
        )
    }
  }

  private def ofWatermark(join: StreamJoin, side: Side): Option[StreamJoinAnalysisException] =
    Option.when(join.timesOf(side).isEmpty)(
      MissingWatermark
        .refusal(join.origin, side, BySide(join.left, join.right), Some(join.condition))
    )

  private def ofState(join: StreamJoin): Option[Refusal] = {
    val sides = Side.both.filterNot(join.analysis.bounds.bounded)
    Option.when(sides.nonEmpty)(
      Refusal(unbounded(join, sides), awaitsBound = join.joinType == JoinType.Inner)
    )
  }

  /**
   * The error of a condition that does not bound the state, with the most specific reason and all
   * missing bounds.
   */
  private[resolve] def unbounded(
      join: StreamJoin,
      sides: Seq[Side]
  ): StreamJoinAnalysisException = {
    val rejected = join.analysis.conditionBounds.rejected
    def because(reason: RejectedBound.Reason) = rejected.find(_.reason == reason).map(_.conjunct)
    val side = sides.map(_.name).mkString(" or ")
    val missing = inequalities(join, sides)
    def instead(lead: String, end: String = "") =
      missing.fold(sameType(join))(some => s"$lead, for example $some$end")
    val calendar = because(RejectedBound.CalendarInterval).map(c =>
      StreamJoinErrors.calendarInterval(join.origin, ColumnNames.sql(c), Distances.Unbounded)
    )
    def disjunctive = because(RejectedBound.InsideOr).map(c =>
      StreamJoinErrors.analysis(
        "DISJUNCTIVE_BOUND",
        join.origin,
        "side" -> side,
        "expression" -> ColumnNames.sql(c),
        "instead" -> instead("Add a bound that holds in each branch")
      )
    )
    def varying = rejected.headOption.map(r =>
      StreamJoinErrors.analysis(
        "NON_CONSTANT_BOUND",
        join.origin,
        "side" -> side,
        "expression" -> ColumnNames.sql(r.conjunct),
        "reason" -> r.text,
        "instead" -> instead("Add a bound with a constant distance")
      )
    )
    def mixed = MissingParentheses.refusal(join.condition, join.origin)
    calendar.orElse(mixed).orElse(disjunctive).orElse(varying).getOrElse(
      StreamJoinErrors.analysis(
        "UNBOUNDED_STATE",
        join.origin,
        "side" -> side,
        "condition" -> ColumnNames.sql(join.condition),
        "leftTimes" -> join.timesOf(Side.Left).map(ColumnNames.of).mkString(", "),
        "rightTimes" -> join.timesOf(Side.Right).map(ColumnNames.of).mkString(", "),
        "instead" -> instead(
          s"Add the missing ${if (sides.length > 1) "inequalities" else "inequality"} to the " +
            "condition of the join",
          ". Or limit how long the join buffers rows, with streamJoin(..., retention=...) or " +
            "spark.sql.streamJoin.retention. The retention adds the missing bound to the condition"
        )
      )
    )
  }

  /** The bounds that the sides lack; none if no two event times have one type. */
  private def inequalities(join: StreamJoin, sides: Seq[Side]): Option[String] = {
    val missing = sides.flatMap(side => MissingBound.of(join, side).map(side -> _))
    val columns = join.left.output ++ join.right.output
    def name(a: Attribute) = ColumnNames.among(columns, a)
    val named = missing.forall { case (_, m) =>
      Seq(m.later, m.earlier).forall(t => name(t.column).nonEmpty)
    }
    def aliased(side: Side)(a: Attribute) =
      if (named) name(a).get
      else ColumnNames.written(Seq(side.name.take(1), a.name))
    val written = missing.map { case (side, m) =>
      m.sql(aliased(side)(m.later.column), aliased(side.other)(m.earlier.column))
    }
    // one equality of windows bounds both sides
    val needed = if (missing.exists(_._2.ofEqualWindows)) written.take(1) else written
    val aliases =
      if (named) "" else ". Give the left input the alias l and the right input the alias r"
    Option.when(missing.nonEmpty)(needed.mkString(" AND ") + aliases)
  }

  /** Advice to make event times comparable. */
  private def sameType(join: StreamJoin): String = {
    def time(side: Side) =
      join.timesOf(side).filterNot(t => TimeUnit.isWindow(t.dataType)).headOption
    def rank(a: Attribute) = TimeUnit.of(a.dataType).fold(-1)(ranks.indexOf(_))
    val advice = for (l <- time(Side.Left); r <- time(Side.Right)) yield {
      val (side, from, to) = if (rank(l) < rank(r)) (Side.Left, l, r) else (Side.Right, r, l)
      val wanted = to.dataType.sql
      s"Make a $wanted of ${ColumnNames.of(from)} below the order of the ${side.name} input, with " +
        s"${made(from, to)}, impose the order on that column, and compare it with " +
        s"${ColumnNames.of(to)}"
    }
    advice.getOrElse("Compare two event times of the same type")
  }

  /** Of two types, the first one is converted to the other. */
  private val ranks =
    Seq(TimeUnit.Number, TimeUnit.Date, TimeUnit.TimestampNtz, TimeUnit.Timestamp)

  private def made(from: Attribute, to: Attribute): String = {
    val column = ColumnNames.written(Seq(from.name))
    (TimeUnit.of(from.dataType), TimeUnit.of(to.dataType)) match {
      case (Some(TimeUnit.Number), Some(TimeUnit.Date)) => s"date_from_unix_date($column)"
      case (Some(TimeUnit.Number), Some(TimeUnit.Timestamp)) =>
        s"timestamp_seconds($column) or timestamp_millis($column), by the unit of the numbers"
      case (Some(TimeUnit.Number), _) => s"CAST(timestamp_seconds($column) AS ${to.dataType.sql})"
      case _                          => s"CAST($column AS ${to.dataType.sql})"
    }
  }
}
