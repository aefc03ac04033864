package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

import io.streamjoin.model.Side

/** Aggregations of insert-only rows below a changelog join. */
class GroupUpsertsSuite extends AnalysisSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    stream("value AS id", "value % 3 AS k", "value % 2 AS w").createOrReplaceTempView("rows")
    session
      .sql("SELECT * FROM FROM_UPSERTS(TABLE(rows), DESCRIPTOR(id), DESCRIPTOR(id))")
      .createOrReplaceTempView("a")
  }

  /** The join, the columns of its right input, and whether this input is normalized. */
  private def joined(groups: String, on: String): (ChangelogJoin, Seq[String], Boolean) = {
    val df = session.sql(s"SELECT * FROM a LEFT JOIN ($groups) g ON $on")
    val joins = planOf(df).collect { case j: ChangelogJoin => j }
    (
      joins.head,
      df.columns.toSeq.drop(3).dropRight(3),
      joins.head.right.exists { case j: ChangelogJoin => j.normalizes; case _ => false }
    )
  }

  test("an aggregation below a changelog join has its groups as the key") {
    val (j, columns, normalized) =
      joined("SELECT k, count(*) AS n FROM rows GROUP BY k", "a.k = g.k")
    assert(j.key(Side.Right).map(_.name) == Seq("k") && j.inputs.map(_.ofGroups) == Seq(
      false,
      true
    ))
    assert(columns == Seq("k", "n") && !normalized)
  }

  test("an aggregation that omits a group column has no key and is normalized") {
    for (
      groups <- Seq(
        "SELECT count(*) AS n FROM rows GROUP BY k",
        "SELECT n FROM (SELECT k + 1, count(*) AS n, w FROM rows GROUP BY k + 1, w)",
        "SELECT max(id) AS n FROM rows GROUP BY k, k % 2 HAVING max(id) > 3"
      )
    ) {
      val (j, columns, normalized) = joined(groups, "a.id = g.n")
      assert(j.key(Side.Right).isEmpty && columns == Seq("n") && normalized, groups)
    }
    val exists = "SELECT id, _change_type FROM a WHERE id IN (SELECT count(*) FROM rows GROUP BY k)"
    assert(analyzed(exists).collect { case j: ChangelogJoin => j.normalizes } == Seq(false, true))
  }

  test("DISTINCT below a changelog join has all its columns as the key") {
    val (j, columns, _) = joined("SELECT DISTINCT k, w FROM rows", "a.k = g.k AND a.w = g.w")
    assert(j.key(Side.Right).length == 2 && columns == Seq("k", "w"))
  }

  private val groups = "(SELECT k, count(*) AS n FROM rows GROUP BY k)"

  private def uppermost(from: String): ChangelogJoin =
    analyzed(s"SELECT /*+ STREAM_JOIN(mode => 'changelog') */ * FROM $from")
      .collectFirst { case j: ChangelogJoin => j }.get

  test("a FULL JOIN of two aggregations has no output key") {
    // each input may have a group of NULL, and both padded rows would have the key (NULL, NULL)
    assert(uppermost(s"$groups f FULL JOIN $groups g ON f.k = g.k").outputKey.isEmpty)
    assert(
      uppermost(s"$groups f LEFT JOIN $groups g ON f.n = g.n").outputKey.map(_.length).contains(2)
    )
    assert(uppermost(s"$groups f FULL JOIN a ON f.k = a.id").outputKey.map(_.length).contains(2))
  }

  test("a key inferred from an aggregation below another join is marked as a group key") {
    val below = s"(SELECT g.k, a.w, _change_type FROM $groups g LEFT JOIN a ON g.k = a.id) x"
    val j = uppermost(s"$below LEFT JOIN a AS b ON x.w = b.k")
    assert(j.of(Side.Left).inferred && j.inputs.map(_.ofGroups) == Seq(true, false))
  }

  test("a global, a nested and an unordered aggregation are refused below a changelog join") {
    for (
      wrong <- Seq(
        "SELECT max(k) AS k FROM rows",
        "SELECT DISTINCT k FROM (SELECT k, count(*) FROM rows GROUP BY k)",
        "SELECT max(k) AS k FROM rows GROUP BY map(k, w)"
      )
    ) {
      val refused = refusal(joined(wrong, "a.k = g.k"))
      assert(refused.getCondition == "STREAM_JOIN.UNSUPPORTED_CHANGELOG", wrong)
    }
  }
}
