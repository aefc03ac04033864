package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.analysis.{UnresolvedRelation, UnresolvedStar}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.{Inner, JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.{
  JoinOptions,
  StreamJoinHint,
  UnresolvedChangelog,
  UnresolvedStreamJoin
}

/** [[HoldHintedJoins]] alone: which joins keep the nodes above them unresolved. */
class HeldNamesSuite extends AnalysisSession {

  private def join(options: Option[JoinOptions], joinType: JoinType = Inner): LogicalPlan = {
    val (left, right) = (UnresolvedRelation(Seq("a")), UnresolvedRelation(Seq("b")))
    Project(
      Seq(UnresolvedStar(None)),
      Join(
        options.fold[LogicalPlan](left)(StreamJoinHint(_, left)),
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
      Seq(j.left, UnresolvedChangelog("from_changelog", Map.empty, Nil, Nil, j.right))
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

  private def held(text: String): Seq[LogicalPlan] =
    HoldHintedJoins(CatalystSqlParser.parsePlan(text)).collect { case u: UnresolvedStreamJoin => u }

  test("joins below new names for all columns stay unresolved") {
    assert(held("SELECT x FROM (SELECT * FROM a JOIN b ON a.id = b.id) AS t(x, y)").length == 1)
    assert(held("SELECT x FROM (SELECT * FROM a JOIN b ON a.id = b.id) AS t").isEmpty)
  }

  test("joins below an unqualified change column stay unresolved") {
    for (name <- Seq("_CHANGE_TYPE", "_commit_version", "_commit_timestamp")) {
      assert(held(s"SELECT o.id, $name FROM a AS o JOIN b ON o.id = b.id").length == 1)
      assert(held(s"SELECT $name FROM (SELECT * FROM a JOIN b JOIN c) WHERE x > 1").length == 2)
    }
    assert(held("SELECT o._change_type FROM a AS o JOIN b ON o.id = b.id").isEmpty)
    assert(held("SELECT o.id FROM a AS o JOIN b ON o.id = b.id AND _change_type = 'x'").isEmpty)
  }

  test("a join that adds no column is released as it is, with its tags") {
    val (left, right) = (planOf(stream("value AS k")), planOf(stream("value AS v")))
    val join = Join(left, right, Inner, Some(Literal.TrueLiteral), JoinHint.NONE)
    val byNames = Project(join.output, join)
    byNames.setTagValue(Project.hiddenOutputTag, right.output)
    for (plan <- Seq(join, byNames)) {
      val released = ResolveStreamJoin(UnresolvedStreamJoin(plan))
      assert(released == plan)
      assert(
        released.getTagValue(Project.hiddenOutputTag) == plan.getTagValue(Project.hiddenOutputTag)
      )
    }
  }
}
