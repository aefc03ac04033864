package org.apache.spark.sql.streamjoin.logical.resolve

import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.ChangelogJoin

import io.streamjoin.PythonApi

/** What is declared of changes, and what may stand between that and a join. */
class DeclaredChangelogSuite extends AnalysisSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    stream(
      "value AS id",
      "'a' AS op",
      "collate('a', 'UTF8_LCASE') AS word",
      "'b' AS _change_type",
      "value AS _commit_version",
      "map(value, 1) AS m",
      "parse_json('1') AS v"
    ).createOrReplaceTempView("raw")
    session.sql("SELECT id, op, _commit_version FROM raw").createOrReplaceTempView("plain")
    session
      .sql("SELECT * FROM FROM_CHANGELOG(TABLE(plain), op => DESCRIPTOR(op))")
      .createOrReplaceTempView("b")
  }

  private def condition(sql: String): String = refusal(session.sql(sql)).getCondition

  test(
    "a key, and a sequence, have an order and are parts of the row; a key has each column once"
  ) {
    def declared(arguments: String) =
      s"SELECT * FROM FROM_CHANGELOG(TABLE(SELECT id, op, word, m, v FROM raw), $arguments)"
    session.sql(declared("op => DESCRIPTOR(word), key => DESCRIPTOR(id)"))
    for (
      wrong <- Seq(
        "key => DESCRIPTOR(m)",
        "key => DESCRIPTOR(v)",
        "key => DESCRIPTOR(id, id)",
        "key => DESCRIPTOR(op)",
        "key => DESCRIPTOR(id), sequence_by => DESCRIPTOR(m)",
        "key => DESCRIPTOR(id), sequence_by => DESCRIPTOR(op)"
      )
    ) assert(
      condition(declared(s"op => DESCRIPTOR(op), $wrong")) == "STREAM_JOIN.INVALID_CHANGELOG",
      wrong
    )
  }

  test("a word is of one kind, in upper and lower case") {
    def declared(words: String) =
      s"SELECT * FROM FROM_CHANGELOG(TABLE(plain), op => DESCRIPTOR(op), op_mapping => MAP($words))"
    session.sql(declared("'u', '+U', 'U', 'update_after', 'd', '-D'"))
    for (wrong <- Seq("'u', '-U', 'U', '+U'", "'d', 'delete', ' D', 'insert'", "'d', 'gone'"))
      assert(condition(declared(wrong)) == "STREAM_JOIN.INVALID_CHANGELOG", wrong)
  }

  test("a name that two columns have is none of a key") {
    val joined =
      session.sql("SELECT x.id, y.id, _change_type FROM b AS x JOIN b AS y ON x.id = y.id")
    val refused = refusal(PythonApi.toUpserts(joined, java.util.List.of("id")))
    assert(refused.getCondition == "STREAM_JOIN.INVALID_CHANGELOG")
    assert(refused.getMessage.contains("F.col(\"x.id\").alias(\"x_id\")"), refused.getMessage)
  }

  test("rows have no column with the name of the kinds") {
    assert(condition("SELECT * FROM FROM_CHANGELOG(TABLE(raw), op => DESCRIPTOR(op))") ==
      "STREAM_JOIN.INVALID_CHANGELOG")
  }

  test("between the declaration and a join nothing depends on what is said of the change") {
    def join(input: String) =
      s"SELECT x.id, _change_type FROM ($input) AS x JOIN b ON x.id = b.id"
    for (
      input <- Seq(
        "SELECT * FROM b",
        "SELECT id + 1 AS id, _commit_version AS version, _change_type FROM b",
        "SELECT * FROM b WHERE id > 1"
      )
    ) assert(planOf(session.sql(join(input))).exists(_.isInstanceOf[ChangelogJoin]), input)
    for (
      input <- Seq(
        "SELECT * FROM b WHERE _change_type = 'insert'",
        "SELECT *, _change_type AS again FROM b",
        "SELECT *, upper(_change_type) AS word FROM b",
        "SELECT *, _commit_version + 1 AS version FROM b"
      )
    ) assert(condition(join(input)) == "STREAM_JOIN.UNSUPPORTED_CHANGELOG", input)
  }

  test("a condition asks of rows, not of their changes or of the day, and says what to write") {
    for (
      (condition, instead) <- Seq(
        "x._change_type = b._change_type" -> "Write a filter below fromChangelog",
        "x.id > rand()" -> "Write it as a constant"
      )
    ) {
      val text = s"SELECT x.id, _change_type FROM b AS x JOIN b ON x.id = b.id AND $condition"
      val refused = refusal(session.sql(text))
      assert(refused.getCondition == "STREAM_JOIN.UNSUPPORTED_CONDITION", condition)
      assert(refused.getMessage.contains(instead), refused.getMessage)
    }
  }

  test("a common table expression of changes is joined, with others and with itself") {
    val c = "WITH c AS (SELECT * FROM FROM_CHANGELOG(TABLE(plain), op => DESCRIPTOR(op)))"
    for (
      join <-
        Seq(
          "c JOIN b ON c.id = b.id",
          "b LEFT JOIN c ON c.id = b.id",
          "c JOIN c AS b ON c.id = b.id"
        )
    ) {
      val plan = planOf(session.sql(s"$c SELECT b.id, _change_type FROM $join"))
      assert(plan.exists(_.isInstanceOf[ChangelogJoin]) && !plan.exists(_.isInstanceOf[Join]), join)
    }
  }
}
