package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Union}
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ChangelogJoin, ToUpserts}

import io.streamjoin.model.Side

/** A UNION ALL of changelogs is a changelog. */
class UnitedChangesSuite extends AnalysisSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    stream("value AS id", "value % 3 AS k", "value AS seq", "timestamp AS t", "'c' AS op")
      .createOrReplaceTempView("rows")
    for (name <- Seq("a", "b"))
      session
        .sql("SELECT * FROM FROM_UPSERTS(TABLE(rows), DESCRIPTOR(id), DESCRIPTOR(seq))")
        .createOrReplaceTempView(name)
    session.sql("SELECT * FROM FROM_CHANGELOG(TABLE(rows), op => DESCRIPTOR(op))")
      .createOrReplaceTempView("whole")
    session.sql("SELECT *, t AS _commit_timestamp FROM rows").createOrReplaceTempView("committed")
  }

  private val c = "id, k, _change_type"

  private def joins(plan: LogicalPlan): Seq[ChangelogJoin] = plan.collect { case j: ChangelogJoin =>
    j
  }

  private def united(union: String): Seq[ChangelogJoin] =
    joins(
      analyzed(s"SELECT u.id, w.id, _change_type FROM ($union) u LEFT JOIN whole w ON u.k = w.k")
    )

  test("a union has no key, and each of its parts with a key is normalized") {
    for (
      (union, parts) <- Seq(
        s"SELECT $c FROM a UNION ALL SELECT $c FROM b" -> 2,
        s"SELECT $c FROM a UNION ALL SELECT $c FROM a WHERE k > 0" -> 2,
        s"SELECT $c FROM a UNION ALL SELECT $c FROM whole" -> 1,
        s"SELECT $c FROM whole UNION ALL SELECT $c FROM a" -> 1,
        s"SELECT $c FROM whole UNION ALL SELECT $c FROM whole" -> 0,
        s"SELECT $c FROM a UNION ALL SELECT $c FROM b UNION ALL SELECT $c FROM whole" -> 2,
        s"SELECT $c FROM a UNION ALL SELECT $c FROM whole UNION ALL SELECT $c FROM b" -> 2,
        s"SELECT $c FROM a UNION ALL (SELECT $c FROM whole UNION ALL SELECT $c FROM b)" -> 2,
        s"SELECT id + 1 AS id, k, _change_type FROM (SELECT * FROM a UNION ALL SELECT * FROM b) x WHERE k > 0" -> 2
      )
    ) {
      val (normalized, joined) = united(union).partition(_.normalizes)
      assert(normalized.length == parts && joined.length == 1, union)
      val one = joined.head
      assert(one.key(Side.Left).isEmpty && one.sequence(Side.Left).isEmpty, union)
      assert(one.left.exists(_.isInstanceOf[Union]), union)
    }
  }

  test("parts of a union that are results of joins are not normalized") {
    val part = "SELECT x.id, x.k, _change_type FROM a x JOIN b y ON x.id = y.id"
    assert(united(s"$part UNION ALL $part").map(_.normalizes) == Seq.fill(3)(false))
  }

  test("sums above a union normalize only its parts with a key") {
    val sign = "CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END"
    for (parts <- Seq(Seq("a", "whole"), Seq("whole", "a"), Seq("whole", "a", "whole"))) {
      val union = parts.map(part => s"SELECT $c FROM $part").mkString(" UNION ALL ")
      val plan = planOf(session.sql(s"SELECT k, sum($sign) AS n FROM ($union) GROUP BY k"))
      assert(joins(plan).map(_.normalizes) == Seq(true), union)
    }
  }

  test("toUpserts above a union requires a key") {
    // a key of one part may be the key of another row in another part
    val union = s"SELECT $c FROM a UNION ALL SELECT $c FROM b"
    def upserts(key: String*) =
      PythonCalls.toUpserts(session.sql(union), java.util.List.of(key: _*))
    assert(refusal(upserts()).getCondition == "STREAM_JOIN.INVALID_CHANGELOG")
    val plan = planOf(upserts("id", "k"))
    assert(plan.exists { case u: ToUpserts => u.key.length == 2; case _ => false })
    assert(joins(plan).map(_.normalizes) == Seq(true, true))
  }

  test("the refusal names the part of a union whose change columns differ") {
    for (
      (union, part) <- Seq(
        s"SELECT $c FROM a UNION ALL SELECT id, k, 'insert' AS _change_type FROM rows" -> "part 2",
        s"SELECT id, k, 'insert' AS _change_type FROM rows UNION ALL SELECT $c FROM a" -> "part 1",
        s"SELECT op, op AS o, _change_type FROM a UNION ALL SELECT op, _change_type, op AS o FROM b" -> "part 2",
        "SELECT id, k, _commit_timestamp, _change_type FROM FROM_CHANGELOG(TABLE(committed), op => DESCRIPTOR(op)) " +
          "UNION ALL SELECT id, k, t, _change_type FROM a" -> "part 2"
      )
    ) {
      val on = if (union.contains("op AS o")) "u.op = w.op" else "u.k = w.k"
      val refused = refusal(analyzed(s"SELECT w.id, _change_type FROM ($union) u JOIN a w ON $on"))
      assert(refused.getCondition == "STREAM_JOIN.UNSUPPORTED_CHANGELOG", union)
      assert(refused.getMessage.contains(part), refused.getMessage)
    }
  }
}
