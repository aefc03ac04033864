package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

import io.streamjoin.model.Side

/** Declarations of changelogs, and the operators that are allowed between one and a join. */
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

  test("FROM_CHANGELOG refuses unordered, repeated and missing columns in key and sequence") {
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

  test("a changelog join refuses the INTERVAL type and accepts the ANSI interval types") {
    // some bytes of a NULL INTERVAL are undefined, and the bytes of a row identify it
    def joined(column: String, events: String = "id") = session.sql(
      s"""SELECT * FROM FROM_CHANGELOG(TABLE(SELECT id, op, $column AS i FROM raw), op => DESCRIPTOR(op)) a
         |JOIN (SELECT id, $events AS e FROM plain) e ON a.id = e.id""".stripMargin
    )
    joined("make_ym_interval(id)", "make_dt_interval(id)").queryExecution.assertAnalyzed()
    for (wrong <- Seq("make_interval(0, id)", "array(struct(make_interval(id)))"))
      assert(
        Seq(refusal(joined(wrong)), refusal(joined("id", wrong))).map(_.getCondition).distinct ==
          Seq("STREAM_JOIN.UNSUPPORTED_CHANGELOG"),
        wrong
      )
  }

  test("op_mapping refuses an unknown row kind, and two row kinds for one word in any case") {
    def declared(words: String) =
      s"SELECT * FROM FROM_CHANGELOG(TABLE(plain), op => DESCRIPTOR(op), op_mapping => MAP($words))"
    session.sql(declared("'u', '+U', 'U', 'update_after', 'd', '-D'"))
    for (wrong <- Seq("'u', '-U', 'U', '+U'", "'d', 'delete', ' D', 'insert'", "'d', 'gone'"))
      assert(condition(declared(wrong)) == "STREAM_JOIN.INVALID_CHANGELOG", wrong)
  }

  test("toUpserts refuses an ambiguous key column and suggests an alias") {
    val joined =
      session.sql("SELECT x.id, y.id, _change_type FROM b AS x JOIN b AS y ON x.id = y.id")
    val refused = refusal(PythonCalls.toUpserts(joined, java.util.List.of("id")))
    assert(refused.getCondition == "STREAM_JOIN.INVALID_CHANGELOG")
    assert(refused.getMessage.contains("F.col(\"x.id\").alias(\"x_id\")"), refused.getMessage)
  }

  test("a column name is read literally, then as by F.col, and a refusal says what to write") {
    val odd = stream(
      "value AS `order id`",
      "value AS `a.b`",
      "value AS `a``b`",
      "named_struct('id', value) AS s",
      "'insert' AS op",
      "value AS `s q`"
    ).alias("o")
    def key(name: String, of: DataFrame = odd, sequence: String = "s q"): Seq[String] = planOf(
      PythonCalls.fromChangelog(of, java.util.List.of(name), "`op`", java.util.Map.of(), sequence)
    ).output.filter(_.metadata.contains(ChangelogMarks.Key)).map(_.name)
    for (
      (name, column) <- Seq(
        "order id" -> "order id",
        "`Order ID`" -> "order id",
        "o.`order id`" -> "order id",
        "a.b" -> "a.b",
        "`a.b`" -> "a.b",
        "a`b" -> "a`b",
        "`a``b`" -> "a`b"
      )
    ) assert(key(name, sequence = "`s q`") == Seq(column), name)
    // the literal name comes first
    assert(key("`x`", odd.selectExpr("op", "`s q`", "1 AS x", "2 AS ```x```")) == Seq("`x`"))
    for (
      (name, advice) <- Seq(
        "s.id" -> ".withColumn(\"id\", F.col(\"s.id\"))",
        "p.`order id`" -> "one of order id, a.b",
        "`order id" -> "one of order id, a.b",
        "" -> "one of order id, a.b"
      )
    ) {
      val error = refusal(key(name))
      assert(error.getCondition == "STREAM_JOIN.INVALID_CHANGELOG", name)
      assert(error.getMessage.contains(advice), error.getMessage)
    }
    val upserts = PythonCalls.toUpserts(
      session.sql("SELECT x.id AS `i d`, _change_type FROM b AS x JOIN b AS y ON x.id = y.id"),
      java.util.List.of("`i d`")
    )
    assert(upserts.columns.contains("i d"))
    val rows = "STRUCT<`order id`: INT, v: INT>"
    val messages = stream(
      s"from_json('', 'op STRING, before $rows, after $rows, source STRUCT<lsn: BIGINT>') AS `the value`"
    )
    val debezium = PythonCalls.fromDebezium(
      messages,
      java.util.List.of("`order id`"),
      "`the value`",
      "source.lsn"
    )
    assert(planOf(debezium).output.head.metadata.contains(ChangelogMarks.Key))
  }

  test("a change column in a key and an unordered key of toUpserts are refused") {
    val keyed =
      "op => DESCRIPTOR(op), sequence_by => DESCRIPTOR(id), key => DESCRIPTOR(id, _commit_version)"
    assert(condition(s"SELECT * FROM FROM_CHANGELOG(TABLE(plain), $keyed)") ==
      "STREAM_JOIN.INVALID_CHANGELOG")
    val changes =
      session.sql(
        "SELECT id, m, _change_type FROM FROM_CHANGELOG(TABLE(SELECT id, m, op FROM raw), " +
          "op => DESCRIPTOR(op))"
      )
    for (wrong <- Seq("m", "_change_type"))
      assert(
        refusal(PythonCalls.toUpserts(changes, java.util.List.of(wrong))).getCondition ==
          "STREAM_JOIN.INVALID_CHANGELOG",
        wrong
      )
  }

  test("FROM_DEBEZIUM refuses unordered and repeated columns in key and sequence") {
    session.sql(
      "SELECT named_struct('op', op, 'before', s, 'after', s, 'm', m) AS value, id AS offset FROM " +
        "(SELECT *, named_struct('id', id, 'm', m) AS s FROM raw)"
    ).createOrReplaceTempView("messages")
    def declared(arguments: String) = s"SELECT * FROM FROM_DEBEZIUM(TABLE(messages), $arguments)"
    session.sql(declared("key => DESCRIPTOR(id)"))
    for (
      wrong <- Seq(
        "key => DESCRIPTOR(m)",
        "key => DESCRIPTOR(id, id)",
        "key => DESCRIPTOR(id), sequence_by => DESCRIPTOR(m)"
      )
    ) assert(condition(declared(wrong)) == "STREAM_JOIN.INVALID_CHANGELOG", wrong)
  }

  test("changes cannot be declared again, and toUpserts cannot follow toUpserts") {
    val joined = session.sql("SELECT x.id, x.op, _change_type, _commit_version FROM " +
      "(SELECT id, 'c' AS op, _change_type FROM b) AS x JOIN b AS y ON x.id = y.id")
    val upserts = PythonCalls.toUpserts(joined, java.util.List.of("id"))
    val key = java.util.List.of("id")
    val none = java.util.Map.of[String, String]()
    for (changes <- Seq(joined, joined.drop("_change_type"), upserts)) {
      for (
        declared <- Seq(
          () => PythonCalls.fromUpserts(changes, key, "_commit_version", null),
          () => PythonCalls.fromChangelog(changes, key, "op", none, null)
        )
      ) assert(refusal(declared()).getCondition == "STREAM_JOIN.INVALID_CHANGELOG")
    }
    for (of <- Seq(key, java.util.List.of("op")))
      assert(refusal(PythonCalls.toUpserts(upserts, of)).getCondition ==
        "STREAM_JOIN.INVALID_CHANGELOG")
  }

  test("a table of written changes declares nothing by the metadata of its columns") {
    val joined = session.sql(
      "SELECT x.id, _change_type AS op, _commit_version AS version FROM b AS x JOIN b AS y ON x.id = y.id"
    )
    val upserts = PythonCalls.toUpserts(
      session.sql("SELECT id, _change_type AS op, seq AS version FROM FROM_UPSERTS(TABLE(" +
        "SELECT id, id AS seq FROM plain), DESCRIPTOR(id), DESCRIPTOR(seq))"),
      java.util.List.of()
    )
    val folder = java.nio.file.Files.createTempDirectory("written")
    for (changes <- Seq(joined, upserts)) {
      assert(changes.schema.exists(_.metadata.contains(ChangelogMarks.Kind)))
      session.readStream.schema(changes.schema).json(folder.toString)
        .createOrReplaceTempView("written")
      def one(input: String): ChangelogJoin = {
        val text =
          s"SELECT t.id, t.version, t.op, _change_type FROM $input AS t JOIN b ON t.id = b.id"
        planOf(session.sql(text)).collectFirst { case j: ChangelogJoin => j }.get
      }
      val latest = one(
        "FROM_UPSERTS(TABLE(written), DESCRIPTOR(id), DESCRIPTOR(version), deletes => op = 'delete')"
      )
      assert(latest.key(Side.Left).map(_.name) == Seq("id"))
      assert(latest.sequence(Side.Left).map(_.name).contains("version"))
      val whole =
        one("FROM_CHANGELOG(TABLE(SELECT *, op AS kind FROM written), op => DESCRIPTOR(kind))")
      assert(whole.key(Side.Left).isEmpty && whole.left.output.exists(_.name == "version"))
      val appended = one("written")
      assert(appended.key(Side.Left).isEmpty)
      assert(Seq("id", "op", "version").forall(name => appended.left.output.exists(_.name == name)))
      val groups = one("(SELECT version, op, max(id) AS id FROM written GROUP BY version, op)")
      assert(groups.left.output.exists(_.name == "version"))
    }
    java.nio.file.Files.delete(folder)
  }

  test("FROM_CHANGELOG refuses an input with another column _change_type") {
    assert(condition("SELECT * FROM FROM_CHANGELOG(TABLE(raw), op => DESCRIPTOR(op))") ==
      "STREAM_JOIN.INVALID_CHANGELOG")
  }

  test("filters and expressions of change columns below a join are refused") {
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
        "SELECT *, _commit_version + 1 AS version FROM b",
        "SELECT * FROM b WHERE _commit_version <> 3"
      )
    ) assert(condition(join(input)) == "STREAM_JOIN.UNSUPPORTED_CHANGELOG", input)
  }

  test("a join condition on _change_type or rand() is refused with the fix") {
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

  test("a common table expression of a changelog is joined with another and with itself") {
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
