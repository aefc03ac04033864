package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.ChangelogJoin

import io.streamjoin.model.Side

/** Aggregations of rows that only come, below a join with changes. */
class GroupUpsertsSuite extends AnalysisSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    stream("value AS id", "value % 3 AS k", "value % 2 AS w").createOrReplaceTempView("rows")
    session
      .sql("SELECT * FROM FROM_UPSERTS(TABLE(rows), DESCRIPTOR(id), DESCRIPTOR(id))")
      .createOrReplaceTempView("a")
  }

  /** The join, its columns, and whether the last image of each group is kept below. */
  private def joined(groups: String, on: String): (ChangelogJoin, Seq[String], Boolean) = {
    val df = session.sql(s"SELECT * FROM a LEFT JOIN ($groups) g ON $on")
    val joins = planOf(df).collect { case j: ChangelogJoin => j }
    (
      joins.head,
      df.columns.toSeq.drop(3).dropRight(3),
      joins.head.right.exists { case j: ChangelogJoin => j.normalizes; case _ => false }
    )
  }

  test("have their groups as a key, of which NULL may be one") {
    val (j, columns, images) = joined("SELECT k, count(*) AS n FROM rows GROUP BY k", "a.k = g.k")
    assert(j.key(Side.Right).map(_.name) == Seq("k") && j.inputs.map(_.ofGroups) == Seq(
      false,
      true
    ))
    assert(columns == Seq("k", "n") && !images)
  }

  test("and the same where not all of them come out") {
    for (
      groups <- Seq(
        "SELECT count(*) AS n FROM rows GROUP BY k",
        "SELECT n FROM (SELECT k + 1, count(*) AS n, w FROM rows GROUP BY k + 1, w)",
        "SELECT max(id) AS n FROM rows GROUP BY k, k % 2 HAVING max(id) > 3"
      )
    ) {
      val (j, columns, images) = joined(groups, "a.id = g.n")
      assert(j.key(Side.Right).isEmpty && columns == Seq("n") && images, groups)
    }
    val exists = "SELECT id, _change_type FROM a WHERE id IN (SELECT count(*) FROM rows GROUP BY k)"
    assert(analyzed(exists).collect { case j: ChangelogJoin => j.normalizes } == Seq(false, true))
  }

  test("DISTINCT is groups of all columns") {
    val (j, columns, _) = joined("SELECT DISTINCT k, w FROM rows", "a.k = g.k AND a.w = g.w")
    assert(j.key(Side.Right).length == 2 && columns == Seq("k", "w"))
  }

  private val groups = "(SELECT k, count(*) AS n FROM rows GROUP BY k)"

  private def uppermost(from: String): ChangelogJoin =
    analyzed(s"SELECT /*+ STREAM_JOIN(mode => 'changelog') */ * FROM $from")
      .collectFirst { case j: ChangelogJoin => j }.get

  test("two groups of NULL that come out padded are not told apart by their keys") {
    assert(uppermost(s"$groups f FULL JOIN $groups g ON f.k = g.k").outputKey.isEmpty)
    assert(
      uppermost(s"$groups f LEFT JOIN $groups g ON f.n = g.n").outputKey.map(_.length).contains(2)
    )
    assert(uppermost(s"$groups f FULL JOIN a ON f.k = a.id").outputKey.map(_.length).contains(2))
  }

  test("a key from the join below may be that of NULL, too") {
    val below = s"(SELECT g.k, a.w, _change_type FROM $groups g LEFT JOIN a ON g.k = a.id) x"
    val j = uppermost(s"$below LEFT JOIN a AS b ON x.w = b.k")
    assert(j.of(Side.Left).inferred && j.inputs.map(_.ofGroups) == Seq(true, false))
  }

  test("one row of all rows has no group, and groups of groups, or without an order, are refused") {
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
