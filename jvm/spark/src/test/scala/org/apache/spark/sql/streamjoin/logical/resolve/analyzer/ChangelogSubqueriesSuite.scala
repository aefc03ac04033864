package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

import io.streamjoin.model.JoinType

/** EXISTS and IN over changelogs are planned as semi and anti joins. */
class ChangelogSubqueriesSuite extends AnalysisSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    stream("value AS id", "value % 3 AS k").createOrReplaceTempView("rows")
    for (name <- Seq("a", "b", "c"))
      session
        .sql("SELECT * FROM FROM_UPSERTS(TABLE(rows), DESCRIPTOR(id), DESCRIPTOR(id))")
        .createOrReplaceTempView(name)
  }

  private def joins(sql: String): Seq[JoinType] = {
    val plan = planOf(session.sql(sql))
    assert(plan.collectFirst { case j: Join => j }.isEmpty, plan)
    plan.collect { case j: ChangelogJoin if !j.normalizes => j.joinType }
  }

  private val semi = "EXISTS (SELECT 1 FROM c WHERE c.id = a.k)"

  test("EXISTS above a changelog is a semi join, NOT EXISTS an anti join") {
    for ((condition, how) <- Seq(semi -> JoinType.LeftSemi, s"NOT $semi" -> JoinType.LeftAnti))
      assert(joins(s"SELECT id, _change_type FROM a WHERE $condition") == Seq(how))
  }

  test("an uncorrelated EXISTS is a semi or anti join, and EXISTS inside OR is refused") {
    for (
      (condition, how) <- Seq(
        "EXISTS (SELECT 1 FROM c WHERE k = 1)" -> JoinType.LeftSemi,
        "NOT EXISTS (SELECT * FROM c)" -> JoinType.LeftAnti
      )
    ) assert(joins(s"SELECT id, _change_type FROM a WHERE $condition") == Seq(how))
    val refused =
      refusal(planOf(session.sql(s"SELECT id, _change_type FROM a WHERE $semi OR id = 1")))
    assert(refused.getCondition == "STREAM_JOIN.UNSUPPORTED_SUBQUERY")
    assert(!refused.getMessage.contains("time"), refused.getMessage)
  }

  test("EXISTS over a changelog adds the change columns to an insert-only input") {
    for (condition <- Seq(semi, s"NOT $semi").map(_.replace("a.k", "o.k"))) {
      assert(joins(s"SELECT id, _change_type FROM rows AS o WHERE $condition").length == 1)
      val all = session.sql(s"SELECT * FROM rows AS o WHERE $condition").columns
      assert(all.toSeq == Seq("id", "k", "_change_type", "_commit_version", "_commit_timestamp"))
    }
  }

  test("EXISTS with an outer column in a join condition or a join input is refused") {
    for (
      query <- Seq(
        "SELECT 1 FROM b LEFT JOIN c ON b.id = c.id AND a.k = c.k",
        "SELECT 1 FROM (SELECT * FROM b WHERE b.k = a.k) x JOIN c ON x.id = c.id"
      )
    ) {
      val refused = refusal(session.sql(s"SELECT id, _change_type FROM a WHERE EXISTS ($query)"))
      assert(refused.getCondition == "STREAM_JOIN.UNSUPPORTED_SUBQUERY", query)
    }
    val above = "SELECT 1 FROM b LEFT JOIN c ON b.id = c.id WHERE b.k = a.k"
    assert(joins(s"SELECT id, _change_type FROM a WHERE EXISTS ($above)").length == 2)
  }

  test("LIMIT in EXISTS has no effect") {
    val limited = "EXISTS (SELECT 1 FROM c WHERE c.id = a.k LIMIT 1)"
    assert(joins(s"SELECT id, _change_type FROM a WHERE $limited") == Seq(JoinType.LeftSemi))
  }

  test("sub-queries with DISTINCT and unions of changelogs are semi or anti joins") {
    val all = "SELECT k FROM b UNION ALL SELECT k FROM c"
    for (
      (condition, how) <- Seq(
        "id IN (SELECT DISTINCT k FROM c)" -> JoinType.LeftSemi,
        "NOT EXISTS (SELECT DISTINCT k FROM c WHERE c.k = a.id)" -> JoinType.LeftAnti,
        s"id IN ($all)" -> JoinType.LeftSemi,
        "id IN (SELECT k FROM b UNION SELECT k FROM c)" -> JoinType.LeftSemi,
        s"NOT EXISTS (SELECT 1 FROM ($all) x WHERE x.k < a.id)" -> JoinType.LeftAnti,
        s"EXISTS (SELECT 1 FROM ($all) x WHERE x.k = a.id)" -> JoinType.LeftSemi
      )
    ) assert(joins(s"SELECT id, _change_type FROM a WHERE $condition") == Seq(how), condition)
    // one branch of this union is not declared as a changelog
    val mixed = all.replace("FROM c", "FROM rows")
    val refused = refusal(session.sql(s"SELECT id, _change_type FROM a WHERE id IN ($mixed)"))
    assert(refused.getCondition.startsWith("STREAM_JOIN."), refused.getMessage)
  }

  test("two sub-queries, in one WHERE or through a view, are two joins") {
    val two = s"$semi AND k IN (SELECT id FROM b)"
    assert(joins(s"SELECT * FROM a WHERE $two") == Seq.fill(2)(JoinType.LeftSemi))
    session.sql(s"SELECT * FROM a WHERE $semi").createOrReplaceTempView("some")
    for (
      from <- Seq("some", "(SELECT * FROM some)");
      condition <- Seq("IN (SELECT id FROM b)", "IN (SELECT k FROM a)")
    )
      assert(joins(s"SELECT * FROM $from AS x WHERE k $condition").length == 2, condition)
    assert(joins("SELECT * FROM some JOIN b USING (id)") == Seq(JoinType.Inner, JoinType.LeftSemi))
  }

  test("a sub-query above a changelog join is a semi join with one column _change_type") {
    for (
      join <- Seq("a JOIN b ON a.k = b.k", "a LEFT JOIN b ON a.k = b.k");
      what <- Seq("*", "a.id, _change_type", "a.id, b.id, _change_type, _commit_version");
      condition <- Seq(semi, s"a.id > 3 AND $semi", "a.k IN (SELECT id FROM c)")
    ) {
      val sql = s"SELECT $what FROM $join WHERE $condition"
      assert(joins(sql).head == JoinType.LeftSemi && joins(sql).length == 2, sql)
      assert(session.sql(sql).columns.count(_ == "_change_type") == 1, sql)
    }
  }
}
