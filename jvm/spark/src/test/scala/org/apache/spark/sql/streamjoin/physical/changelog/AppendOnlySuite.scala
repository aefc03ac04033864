package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streamjoin.PythonCalls
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

import io.streamjoin.PythonApi
import io.streamjoin.model.Side

/** Which changelog joins are append-only. */
class AppendOnlySuite extends PlannedChangelogs {

  private def rows: DataFrame = stream("value AS id", "value % 3 AS k", "timestamp AS t")

  private def changes(key: String*): DataFrame = changes(key, sequence = None)

  private def join(
      left: DataFrame,
      right: DataFrame,
      how: String = "inner",
      ttl: Boolean = false
  ) = {
    val options = new java.util.HashMap[String, Any](java.util.Map.of("mode", "changelog"))
    if (ttl) options.put("state_ttl", "1 day")
    PythonApi.streamJoin(left.as("a"), right.as("b"), "a.k = b.k", how, options)
  }

  /** The joins of a query, from the top. */
  private def planned(df: DataFrame): Seq[ChangelogJoinExec] =
    session.sessionState.optimizer.execute(planOf(df)).collect { case j: ChangelogJoin =>
      planned(j)
    }

  private def areAppendOnly(df: DataFrame): Seq[Boolean] = planned(df).map(_.spec.appendOnly)

  test("an inner join of append-only inputs is append-only, also with a TTL or watermark") {
    assert(areAppendOnly(join(rows, rows)) == Seq(true))
    assert(areAppendOnly(join(rows, rows, ttl = true)) == Seq(true))
    assert(areAppendOnly(join(ordered(rows, "t"), rows.where("k > 1"))) == Seq(true))
  }

  test(
    "outer, semi and anti joins and joins of changelogs are not append-only"
  ) {
    for (how <- Seq("left", "right", "full", "left_semi", "left_anti"))
      assert(areAppendOnly(join(rows, rows, how)) == Seq(false), how)
    for (
      other <- Seq(
        changes(),
        changes("k"),
        PythonCalls.fromUpserts(rows, java.util.List.of("k"), "id", null)
      )
    )
      assert(areAppendOnly(join(rows, other)) == Seq(false))
  }

  test("a join in a chain is append-only if all joins below it are") {
    def below(how: String) = join(rows, rows, how).selectExpr("a.k", "b.t AS u", "_change_type")
    assert(areAppendOnly(join(below("inner").where("k > 1"), rows)) == Seq(true, true))
    assert(areAppendOnly(join(rows, below("left"))) == Seq(false, false))
    assert(areAppendOnly(join(below("inner"), rows, "left")) == Seq(false, true))
  }

  test("an append-only join needs no sorting and no change kind in its inputs") {
    val exec = planned(join(rows, rows)).head
    assert(exec.requiredChildOrdering.forall(_.isEmpty) && exec.outputOrdering.isEmpty)
    for (side <- Side.both) {
      assert(exec.children(side.index).output == exec.spec.side(side).storedColumns)
    }
    assert(exec.spec.words.explanation.lines.exists(_.contains("both inputs are append-only")))
  }
}
