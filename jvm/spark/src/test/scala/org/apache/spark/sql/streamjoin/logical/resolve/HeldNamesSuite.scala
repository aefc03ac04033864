package org.apache.spark.sql.streamjoin.logical.resolve

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
  AwaitedColumn,
  JoinOptions,
  StreamJoinHint,
  UnresolvedStreamJoin
}

/**
 * What is set aside until a join is known: [[HoldHintedJoins]] for its columns, [[AwaitChangeColumns]] for the kind
 * of a change. Each alone.
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

  test("all others are resolved as they stand") {
    for (options <- Seq(None, Some(JoinOptions(retention = Some("1 hour"))))) {
      val plan = join(options)
      assert(HoldHintedJoins(plan) == plan)
    }
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
