package org.apache.spark.sql.streamjoin.sql

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.execution.SparkSqlParser
import org.apache.spark.sql.streamjoin.errors.StreamJoinConditions
import org.scalatest.funsuite.AnyFunSuite

class AsOfWordsSuite extends AnyFunSuite {

  StreamJoinConditions.register()

  private lazy val parser = StreamSqlParser.around(new SparkSqlParser())

  private def written(text: String): String = {
    val edits = new AsOfWords(new SqlText(text), ofTables = false).edits
    new EditedText(text, edits.sortBy(e => (e.start, e.end))).text
  }

  private val Call = "STREAM_WINDOW(TABLE(SELECT * FROM b ), (a.at >= b.at), 'ASOF')"

  private val Match = "MATCH_CONDITION (a.at >= b.at)"

  for (
    (asOf, rewritten) <- Seq(
      s"a ASOF JOIN b $Match ON a.k = b.k" -> s"a JOIN $Call ON a.k = b.k",
      s"a asof join b match_condition(a.at >= b.at) using (k)" -> s"a join $Call using (k)",
      s"a LEFT ASOF JOIN b $Match ON a.k = b.k" -> s"a LEFT JOIN $Call ON a.k = b.k",
      s"a LEFT OUTER ASOF JOIN b $Match ON a.k = b.k" -> s"a LEFT OUTER JOIN $Call ON a.k = b.k",
      s"a INNER ASOF JOIN b $Match ON a.k = b.k" -> s"a INNER JOIN $Call ON a.k = b.k",
      s"a ASOF LEFT JOIN b $Match ON a.k = b.k" -> s"a LEFT JOIN $Call ON a.k = b.k",
      s"a ASOF LEFT OUTER JOIN b $Match ON a.k = b.k" -> s"a LEFT OUTER JOIN $Call ON a.k = b.k",
      s"a ASOF INNER JOIN b $Match ON a.k = b.k" -> s"a INNER JOIN $Call ON a.k = b.k",
      s"a ASOF JOIN b $Match" -> s"a JOIN $Call ON TRUE",
      s"a ASOF JOIN b $Match WHERE a.k > 0" -> s"a JOIN $Call ON TRUE WHERE a.k > 0",
      s"a ASOF JOIN b $Match JOIN c USING (k)" -> s"a JOIN $Call ON TRUE JOIN c USING (k)",
      s"asof ASOF JOIN b $Match ON asof.k = b.k" -> s"asof JOIN $Call ON asof.k = b.k",
      s"a JOIN asof ASOF JOIN b $Match" -> s"a JOIN asof JOIN $Call ON TRUE",
      s"c AS asof JOIN a ASOF JOIN b $Match" -> s"c AS asof JOIN a JOIN $Call ON TRUE",
      s"a ASOF JOIN b $Match WHERE EXISTS (SELECT * FROM asof WHERE asof.k > 0)" ->
        s"a JOIN $Call ON TRUE WHERE EXISTS (SELECT * FROM asof WHERE asof.k > 0)"
    ) ++ Seq(
      "x a",
      "x AS a",
      "x AS a(at, k)",
      "s.x a",
      "(SELECT * FROM x) a",
      "x TABLESAMPLE (5 ROWS) a",
      "STREAM x a",
      "c JOIN a ON a.k IS NOT DISTINCT FROM c.k",
      "c JOIN a USING (k)",
      "c, x a",
      "a LEFT",
      "a INNER"
    ).map(left =>
      s"$left ASOF JOIN b ON a.k = b.k AND a.at >= b.at" ->
        s"$left JOIN STREAM_WINDOW(TABLE(SELECT * FROM b ), TRUE, 'ASOF') ON a.k = b.k AND a.at >= b.at"
    )
  ) test(asOf) {
    assert(written(s"SELECT * FROM $asOf") == s"SELECT * FROM $rewritten")
    parser.parsePlan(s"SELECT * FROM $asOf")
  }

  for (
    (left, condition) <- Seq(
      "a ASOF LEFT JOIN" -> "a.k = b.k AND a.at >= b.at",
      "s.a ASOF JOIN" -> "(a.k = b.k AND abs(a.at) >= b.at) WHERE asof.k > 0",
      "c JOIN a ASOF INNER JOIN" -> "a.k = b.k AND A.at >= b.at LEFT JOIN d ON asof.k = d.k"
    )
  ) test(s"an alias would hide the name of the left input: $left b ON $condition") {
    val text = s"SELECT * FROM $left b ON $condition"
    val window = "STREAM_WINDOW(TABLE(SELECT * FROM b ), TRUE, 'ASOF')"
    assert(written(text) == s"SELECT * FROM ${left.replace("ASOF ", "")} $window ON $condition")
    parser.parsePlan(text)
  }

  for (
    relation <- Seq(
      "b AS q",
      "b AS q(at, k)",
      "(SELECT * FROM b JOIN c ON b.k = c.k) AS q",
      "STREAM b AS q",
      "IMPOSE_ORDER(TABLE(b), DESCRIPTOR(at), INTERVAL '1' MINUTE) AS q",
      "(a ASOF JOIN b MATCH_CONDITION (a.at >= b.at) ON a.k = b.k)"
    )
  ) test(s"the right input may be $relation") {
    parser.parsePlan(
      s"SELECT * FROM t ASOF JOIN $relation MATCH_CONDITION (t.at >= q.at) ON t.k = q.k"
    )
  }

  test("several joins, and other syntax of the extension beside them") {
    parser.parsePlan(
      s"SELECT STREAM * FROM a ASOF JOIN b $Match ON a.k = b.k LEFT ASOF JOIN c MATCH_CONDITION (a.at >= c.at) " +
        "USING (k) JOIN d OVER (RANGE INTERVAL '1' MINUTE PRECEDING) ON a.k = d.k"
    )
  }

  private def refused(text: String): String =
    intercept[ParseException](parser.parsePlan(text)).getCondition

  test("what is no ASOF JOIN is refused") {
    for (
      text <- Seq(
        "SELECT * FROM (SELECT * FROM a) a ASOF JOIN b USING (id)",
        "SELECT * FROM t a ASOF JOIN b",
        "SELECT * FROM t a ASOF JOIN b WHERE a.k > 0",
        s"SELECT * FROM a RIGHT ASOF JOIN b $Match ON a.k = b.k",
        s"SELECT * FROM a FULL OUTER ASOF JOIN b $Match ON a.k = b.k",
        s"SELECT * FROM a CROSS ASOF JOIN b $Match",
        s"SELECT * FROM a ASOF RIGHT JOIN b $Match ON a.k = b.k",
        s"SELECT * FROM a ASOF FULL OUTER JOIN b $Match ON a.k = b.k",
        s"SELECT * FROM a ASOF SEMI JOIN b $Match ON a.k = b.k",
        s"SELECT * FROM a ASOF LEFT ANTI JOIN b $Match ON a.k = b.k",
        s"SELECT * FROM a ASOF CROSS JOIN b $Match",
        s"SELECT * FROM t a ASOF RIGHT JOIN b ON a.k = b.k AND a.at >= b.at",
        "SELECT * FROM a ASOF JOIN b MATCH_CONDITION (a.at >= b.at"
      )
    ) assert(refused(text) == "STREAM_JOIN.UNSUPPORTED_AS_OF", text)
  }

  test("ASOF is a name where it is one") {
    for (
      text <- Seq(
        "SELECT * FROM a ASOF JOIN b ON asof.id = b.id",
        "SELECT * FROM a ASOF JOIN b ON asof.id = b.id AND a.x > 0",
        "SELECT * FROM a ASOF JOIN b ON id = b.a.id AND asof.k = b.k",
        "SELECT * FROM a ASOF JOIN b ON id = b.a.id",
        "SELECT * FROM a ASOF JOIN b USING (id) WHERE a.x > 0",
        "SELECT * FROM a AS asof JOIN b USING (id)",
        "SELECT * FROM asof JOIN b ON asof.id = b.id",
        "SELECT * FROM s.asof JOIN b USING (id)",
        "SELECT * FROM asof LEFT JOIN b USING (id)",
        "SELECT * FROM a JOIN asof JOIN b USING (id)",
        "SELECT * FROM a, asof JOIN b USING (id)",
        "SELECT * FROM (asof JOIN b USING (id))",
        "WITH asof AS (SELECT 1 AS id) SELECT id FROM asof JOIN b USING (id)",
        "SELECT * FROM a asof JOIN b ON id = k",
        "SELECT * FROM a asof LEFT JOIN b ON id = k",
        "SELECT * FROM a asof JOIN b",
        "SELECT * FROM s.a asof JOIN b USING (id)",
        "SELECT * FROM f(1) asof JOIN b USING (id)",
        "SELECT * FROM (SELECT * FROM a) asof JOIN b USING (id)",
        "SELECT * FROM a TABLESAMPLE (5 ROWS) asof JOIN b USING (id)",
        "SELECT * FROM a JOIN c asof JOIN b USING (id)",
        "SELECT 'a ASOF JOIN b' FROM a -- ASOF JOIN",
        "SELECT asof, match_condition FROM a"
      )
    ) {
      assert(written(text) == text)
      parser.parsePlan(text)
    }
  }

  test("an error behind an ASOF JOIN has its place in the text of the user") {
    val text = s"SELECT * FROM a ASOF JOIN b $Match ON a.k = b.k WHERE )"
    val e = intercept[ParseException](parser.parsePlan(text))
    assert(e.start.startPosition.contains(text.indexOf(")", text.indexOf("WHERE"))))
  }
}
