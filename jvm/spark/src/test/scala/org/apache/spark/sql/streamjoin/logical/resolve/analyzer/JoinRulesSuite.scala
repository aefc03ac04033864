package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum
import org.apache.spark.sql.catalyst.plans.{Inner, JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  AsOfJoin,
  ChangelogJoin,
  LastRows,
  StreamJoin,
  StreamJoinHint,
  UnresolvedChangelog
}
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinOptions
import org.apache.spark.sql.streamjoin.logical.resolve.changelog.{CompleteSums, MarkResult}

/**
 * [[ResolveStreamJoin]], [[ResolveAwaitedJoin]], [[ResolveChangelog]], [[ResolveChangelogJoin]],
 * [[MarkLastRows]], [[MarkResult]] and [[CompleteSums]], each on its own.
 */
class JoinRulesSuite extends AnalysisSession {

  private lazy val plain = planOf(stream("value AS k", "timestamp AS t"))

  private lazy val orders = planOf(ordered(stream("value AS id", "timestamp AS ot"), "ot"))

  private lazy val deliveries =
    planOf(ordered(stream("value AS order_id", "timestamp AS dt"), "dt"))

  private def column(plan: LogicalPlan, name: String): Attribute =
    plan.output.find(_.name == name).get

  private lazy val key = EqualTo(column(orders, "id"), column(deliveries, "order_id"))

  private lazy val bounds = {
    val (ot, dt) = (column(orders, "ot"), column(deliveries, "dt"))
    And(GreaterThanOrEqual(dt, ot), LessThanOrEqual(dt, ot))
  }

  private def join(
      condition: Option[Expression],
      how: JoinType = Inner,
      left: LogicalPlan = orders,
      right: LogicalPlan = deliveries
  ) = Join(left, right, how, condition, JoinHint.NONE)

  // Spark's DataFrames resolve a join at the top of a plan separately, in a first step
  private def under(j: Join): Project = Project(j.output, j)

  // ---- ResolveStreamJoin ----

  test("a bounded join of watermarked streams becomes a StreamJoin") {
    val bounded = join(Some(And(key, bounds)), LeftOuter)
    ResolveStreamJoin(under(bounded)) match {
      case Project(_, j: StreamJoin) =>
        assert(j.condition.semanticEquals(And(key, bounds)))
        assert(j.times.map(_.name) == Seq("ot", "dt") && j.output.map(_.name) ==
          bounded.output.map(_.name))
      case other => fail(other.toString)
    }
  }

  test("an unbounded inner join below WHERE is left unchanged, an outer one is refused") {
    val parts = UnresolvedAttribute.quoted("later")
    val waiting = Filter(GreaterThan(parts, Literal(1)), join(Some(key)))
    assert(ResolveStreamJoin(waiting) == waiting)
    assert(refusal(ResolveStreamJoin(under(join(Some(key), LeftOuter)))).getCondition ==
      "STREAM_JOIN.UNBOUNDED_STATE")
  }

  test("a join of plain streams, or with a table, is left unchanged") {
    val other = stream("value AS k", "timestamp AS t")
    val sparks = under(join(None, left = plain, right = planOf(other)))
    val table = under(join(Some(key), right = LocalRelation(deliveries.output)))
    for (plan <- Seq(sparks, table)) assert(ResolveStreamJoin(plan) == plan)
  }

  test("a join with the last rows of an input becomes an AsOfJoin") {
    val last = join(Some(key), right = LastRows(1, deliveries))
    ResolveStreamJoin(under(last)) match {
      case Project(_, j: AsOfJoin) => assert(j.times.map(_.name) == Seq("ot", "dt"))
      case other                   => fail(other.toString)
    }
  }

  // ---- ResolveAwaitedJoin ----

  test("a join at the top of a plan becomes a StreamJoin, or is refused without bounds") {
    assert(ResolveAwaitedJoin(join(Some(And(key, bounds)))).isInstanceOf[StreamJoin])
    assert(refusal(ResolveAwaitedJoin(join(Some(key)))).getCondition ==
      "STREAM_JOIN.UNBOUNDED_STATE")
  }

  test("the check accepts a join without a condition and refuses an unbounded one") {
    ResolveAwaitedJoin.Check(join(None))
    assert(refusal(ResolveAwaitedJoin.Check(under(join(Some(key))))).getCondition ==
      "STREAM_JOIN.UNBOUNDED_STATE")
  }

  // ---- ResolveChangelog ----

  private lazy val rows = planOf(stream("value AS id", "value AS v", "'insert' AS op"))

  private def declared(function: String, columns: (String, Seq[String])*) =
    UnresolvedChangelog(function, columns.toMap, None, None, rows)

  private lazy val changes =
    ResolveChangelog(declared("from_changelog", "op" -> Seq("op"), "key" -> Seq("id")))

  test("a declaration is resolved once its input is") {
    assert(ChangelogMarks.areChanges(changes))
    assert(ChangelogMarks.key(changes.output).map(_.name) == Seq("id"))
    val unknown = declared("from_changelog", "op" -> Seq("op"))
      .copy(child = UnresolvedRelation(Seq("r")))
    assert(ResolveChangelog(unknown) == unknown)
  }

  test("a declaration without its key or its sequence is refused") {
    for (wrong <- Seq("from_upserts", "from_debezium")) {
      assert(refusal(ResolveChangelog(declared(wrong))).getCondition ==
        "STREAM_JOIN.INVALID_CHANGELOG")
    }
    assert(refusal(ResolveChangelog(declared("from_upserts", "key" -> Seq("id")))).getCondition ==
      "STREAM_JOIN.MISSING_SEQUENCE")
  }

  // ---- ResolveChangelogJoin ----

  private lazy val changing =
    join(Some(EqualTo(column(changes, "id"), column(plain, "k"))), LeftOuter, changes, plain)

  test("a join with a changelog becomes a ChangelogJoin, whose _change_type is used above") {
    val above =
      Project(Seq(column(changes, "id"), ChangelogMarks.kind(changes.output).get), changing)
    val made = ResolveChangelogJoin(above)
    assert(made.exists(_.isInstanceOf[ChangelogJoin]) && ChangelogMarks.areChanges(made))
    assert(made.output.map(_.name).take(2) == Seq("id", "_change_type"))
    assert(made.output.last.exprId != ChangelogMarks.kind(changes.output).get.exprId)
  }

  test("a join at the top of a plan becomes a ChangelogJoin once it has a condition") {
    for (rule <- Seq(ResolveChangelogJoin, ResolveChangelogJoin.SecondStep))
      assert(rule(changing).exists(_.isInstanceOf[ChangelogJoin]))
    // Spark adds the condition of a join by names later
    val byNames = changing.copy(condition = None)
    for (rule <- Seq(ResolveChangelogJoin, ResolveChangelogJoin.SecondStep))
      assert(rule(byNames) == byNames)
  }

  test("a join of insert-only inputs becomes a ChangelogJoin only in changelog mode") {
    val stays = under(join(Some(key)))
    assert(ResolveChangelogJoin(stays) == stays)
    val options = JoinOptions(mode = Some(JoinOptions.Changelog))
    val asked = under(join(Some(key), left = StreamJoinHint(options, held = false, orders)))
    assert(ResolveChangelogJoin(asked).exists(_.isInstanceOf[ChangelogJoin]))
  }

  // ---- MarkLastRows ----

  test("MarkLastRows hides the row kind of a changelog that an as-of join reads") {
    val last = StreamJoinHint(JoinOptions(last = true), held = false, plain)
    val versions =
      join(Some(EqualTo(column(plain, "k"), column(changes, "id"))), Inner, last, changes)
    val marked = MarkLastRows(under(versions)).collectFirst { case rows: LastRows => rows }.get
    assert(marked.form == LastRows.ByOption && ChangelogMarks.kind(marked.output).isEmpty)
    assert(marked.output.map(_.name) == changes.output.map(_.name).filter(_ != "_change_type"))
  }

  test("MarkLastRows marks rows that are inserts too, and each input once") {
    val last = StreamJoinHint(JoinOptions(last = true), held = false, orders)
    val marked = MarkLastRows(under(join(Some(key), left = last)))
    assert(marked.collect { case rows: LastRows => rows.child } == Seq(deliveries))
    for (same <- Seq(marked, under(changing))) assert(MarkLastRows(same) == same)
  }

  // ---- MarkResult ----

  test("MarkResult marks the uppermost changelog joins, and none below a sum") {
    def marks(plan: LogicalPlan) = plan.collect { case j: ChangelogJoin => j.isResult }
    val made = ResolveChangelogJoin(under(changing))
    assert(marks(MarkResult(made)) == Seq(true))
    assert(marks(MarkResult(Union(Seq(made, made)))) == Seq(true, true))
    assert(marks(MarkResult(sum(made))) == Seq(false))
    val above = join(Some(EqualTo(column(made, "id"), column(orders, "id"))), Inner, made, orders)
    assert(marks(MarkResult(ResolveChangelogJoin(under(above)))) == Seq(true, false))
  }

  // ---- CompleteSums ----

  private def sum(over: LogicalPlan) =
    Aggregate(Nil, Seq(Alias(Sum(column(over, "v")).toAggregateExpression(), "s")()), over)

  test("CompleteSums adds old images below a sum over upserts") {
    val latest = ResolveChangelog(
      declared("from_upserts", "key" -> Seq("id"), "sequence_by" -> Seq("v"))
    )
    val complete = CompleteSums(sum(latest))
    assert(complete.exists(_.isInstanceOf[ChangelogJoin]))
    assert(CompleteSums(complete) == complete)
  }

  test("CompleteSums leaves sums over plain rows and over changelog joins unchanged") {
    for (complete <- Seq(sum(rows), sum(ResolveChangelogJoin(under(changing)))))
      assert(CompleteSums(complete) == complete)
  }
}
