package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{
  Add,
  Alias,
  Attribute,
  In,
  Literal,
  NamedExpression
}
import org.apache.spark.sql.streamjoin.logical.plan.{ChangeKindOf, ChangelogJoin}

import io.streamjoin.PythonApi

/** When a join emits the added flag itself, instead of a projection above it. */
class FlaggedChangesSuite extends PlannedChangelogs {

  private lazy val joined: ChangelogJoinExec = {
    val df = PythonApi.streamJoin(
      changes(Seq("id"), None).as("a"),
      changes(Seq("id"), None).as("b"),
      "a.id = b.id",
      "left",
      java.util.Map.of[String, Any]("mode", "changelog")
    )
    planned(session.sessionState.optimizer.execute(planOf(df)).collectFirst {
      case j: ChangelogJoin => j
    }.get)
  }

  private lazy val kind: Attribute = joined.spec.output.changes.head
  private lazy val others: Seq[Attribute] = joined.output.filterNot(_.exprId == kind.exprId)
  private lazy val flag: NamedExpression = Alias(ChangeKindOf.comes(kind), "_added")()

  test("the join emits the flag if a projection has all columns and the flag, in any order") {
    for (list <- Seq(others :+ flag, flag +: others.reverse)) {
      val found = FlaggedChanges.of(joined, list).get
      assert(found.output.map(_.exprId) == list.map(_.exprId))
      assert(found.spec.output.added.map(_.exprId).contains(flag.exprId))
      assert(found.requiredChildOrdering == joined.requiredChildOrdering)
    }
  }

  test(
    "other uses of the kind, and missing or computed columns, keep the projection"
  ) {
    val computed = Alias(Add(others.head, Literal(1L)), "more")()
    val deletes = Alias(In(kind, Seq(Literal("delete"), Literal("update_preimage"))), "_gone")()
    val again = Alias(ChangeKindOf.comes(kind), "_added_too")()
    for (
      list <- Seq(
        others,
        others :+ kind,
        others :+ flag :+ kind,
        others :+ flag :+ again,
        others.tail :+ flag,
        others.tail :+ flag :+ computed,
        others :+ deletes
      )
    ) assert(FlaggedChanges.of(joined, list).isEmpty, list)
  }
}
