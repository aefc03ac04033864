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
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  AwaitedAliases,
  AwaitedColumn,
  StreamJoinHint,
  UnresolvedChangelog,
  UnresolvedStreamJoin
}
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinOptions

/**
 * The rules that defer names until a join is built, each on its own: [[HoldHintedJoins]] defers the
 * columns of the join, [[HoldNames]] the change columns and new names of all columns.
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

  test("a join whose hint adds output columns stays unresolved") {
    for (options <- Seq(JoinOptions(emitLate = true), JoinOptions(mode = Some("changelog")))) {
      val plan = HoldHintedJoins(join(Some(options), LeftOuter))
      assert(plan.exists(_.isInstanceOf[UnresolvedStreamJoin]), plan)
      assert(!plan.resolved)
    }
  }

  test("a join with a declared changelog below it stays unresolved") {
    val Project(list, j: Join) = join(Some(JoinOptions(retention = Some("1 hour")))): @unchecked
    val declared = j.withNewChildren(
      Seq(j.left, UnresolvedChangelog("from_changelog", Map.empty, None, None, j.right))
    )
    val plan = HoldHintedJoins(Project(list, declared))
    assert(plan.exists(_.isInstanceOf[UnresolvedStreamJoin]), plan)
  }

  test("a join without a hint, or with retention only, is left unchanged") {
    for (options <- Seq(None, Some(JoinOptions(retention = Some("1 hour"))))) {
      val plan = join(options)
      assert(HoldHintedJoins(plan) == plan)
    }
  }

  test("a hinted join at the top of a plan gets a SELECT * above it") {
    val plan = join(Some(JoinOptions(retention = Some("1 hour"))))
    assert(HoldHintedJoins(plan.children.head) == plan)
    val plain = join(None).children.head
    assert(HoldHintedJoins(plain) == plain)
  }

  test("column aliases of a query are deferred only if it contains a join") {
    val text = "SELECT x FROM (SELECT * FROM a JOIN b ON a.id = b.id) AS t(x, y)"
    val plan = HoldNames(CatalystSqlParser.parsePlan(text))
    assert(plan.collect { case a: AwaitedAliases => a.names } == Seq(Seq("x", "y")))
    val plain = CatalystSqlParser.parsePlan("SELECT x FROM (SELECT * FROM a) AS t(x, y)")
    assert(HoldNames(plain) == plain)
  }

  private def names(plan: LogicalPlan): Seq[String] = plan.expressions.map {
    case AwaitedColumn(name)    => s"awaited $name"
    case u: UnresolvedAttribute => u.name
    case other                  => other.sql
  }

  private def awaited(text: String): Seq[String] =
    names(HoldNames(CatalystSqlParser.parsePlan(text)))

  test("unqualified change columns above a join are deferred") {
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

  test("change columns of a query without a join are not deferred") {
    assert(awaited("SELECT _change_type FROM a") == Seq("_change_type"))
  }

  test("deferred change columns are restored once the plan below is resolved") {
    val known = planOf(stream("value AS k", "timestamp AS t"))
    def list(child: LogicalPlan) = Project(Seq(AwaitedColumn("_change_type")), child)
    assert(names(HoldNames.Release(list(known))) == Seq("_change_type"))
    val unknown = list(UnresolvedRelation(Seq("a")))
    assert(HoldNames.Release(unknown) == unknown)
  }
}
