package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.analysis.{
  UnresolvedAttribute,
  UnresolvedRelation,
  UnresolvedStar
}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.{Inner, JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.{
  AwaitedAliases,
  AwaitedColumn,
  JoinOptions,
  StreamJoinHint,
  UnresolvedChangelog,
  UnresolvedStreamJoin
}

/**
 * What is set aside until a join is known: [[HoldHintedJoins]] for its columns, [[AwaitChangeColumns]] for the kind
 * of a change, [[AwaitAliases]] for new names of all columns. Each alone.
 */
class HeldNamesSuite extends AnalysisSession {

  private def join(options: Option[JoinOptions], joinType: JoinType = Inner): LogicalPlan = {
    val (left, right) = (UnresolvedRelation(Seq("a")), UnresolvedRelation(Seq("b")))
    Project(
      Seq(UnresolvedStar(None)),
      Join(
        options.fold[LogicalPlan](left)(StreamJoinHint(_, held = false, left)),
        right,
        joinType,
        Some(Literal.TrueLiteral),
        JoinHint.NONE
      )
    )
  }

  test("a join that is to have columns of its own is held back, with what is above it") {
    for (options <- Seq(JoinOptions(emitLate = true), JoinOptions(mode = Some("changelog")))) {
      val plan = HoldHintedJoins(join(Some(options), LeftOuter))
      assert(plan.exists(_.isInstanceOf[UnresolvedStreamJoin]), plan)
      assert(!plan.resolved)
    }
  }

  test("so is one of changes that are declared below it") {
    val Project(list, j: Join) = join(Some(JoinOptions(retention = Some("1 hour")))): @unchecked
    val declared = j.withNewChildren(
      Seq(j.left, UnresolvedChangelog("from_changelog", Map.empty, Nil, Nil, j.right))
    )
    val plan = HoldHintedJoins(Project(list, declared))
    assert(plan.exists(_.isInstanceOf[UnresolvedStreamJoin]), plan)
  }

  test("all others are resolved as they stand") {
    for (options <- Seq(None, Some(JoinOptions(retention = Some("1 hour"))))) {
      val plan = join(options)
      assert(HoldHintedJoins(plan) == plan)
    }
  }

  test("a join that is all of a plan is asked for the columns of its result") {
    val plan = join(Some(JoinOptions(retention = Some("1 hour"))))
    assert(HoldHintedJoins(plan.children.head) == plan)
    val plain = join(None).children.head
    assert(HoldHintedJoins(plain) == plain)
  }

  test("names for the columns of a query with joins are given when the joins stand") {
    val text = "SELECT x FROM (SELECT * FROM a JOIN b ON a.id = b.id) AS t(x, y)"
    val plan = AwaitAliases(CatalystSqlParser.parsePlan(text))
    assert(plan.collect { case a: AwaitedAliases => a.names } == Seq(Seq("x", "y")))
    val plain = CatalystSqlParser.parsePlan("SELECT x FROM (SELECT * FROM a) AS t(x, y)")
    assert(AwaitAliases(plain) == plain)
  }

  private def names(plan: LogicalPlan): Seq[String] = plan.expressions.map {
    case AwaitedColumn(name)    => s"awaited $name"
    case u: UnresolvedAttribute => u.name
    case other                  => other.sql
  }

  private def awaited(text: String): Seq[String] =
    names(AwaitChangeColumns(CatalystSqlParser.parsePlan(text)))

  test("the columns of changes above a join are awaited, without a qualifier") {
    assert(
      awaited("SELECT o.id, _CHANGE_TYPE, _commit_version, _commit_timestamp, o._change_type " +
        "FROM a AS o JOIN b ON o.id = b.id") ==
        Seq(
          "o.id",
          "awaited _CHANGE_TYPE",
          "awaited _commit_version",
          "awaited _commit_timestamp",
          "o._change_type"
        )
    )
  }

  test("without a join they are columns as any") {
    assert(awaited("SELECT _change_type FROM a") == Seq("_change_type"))
  }

  test("they are given back once nothing below is to become a join of changes") {
    val known = planOf(stream("value AS k", "timestamp AS t"))
    def list(child: LogicalPlan) = Project(Seq(AwaitedColumn("_change_type")), child)
    assert(names(AwaitChangeColumns.Release(list(known))) == Seq("_change_type"))
    val unknown = list(UnresolvedRelation(Seq("a")))
    assert(AwaitChangeColumns.Release(unknown) == unknown)
  }
}
