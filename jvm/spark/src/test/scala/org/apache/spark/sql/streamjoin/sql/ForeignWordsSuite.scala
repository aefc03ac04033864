package org.apache.spark.sql.streamjoin.sql

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.execution.SparkSqlParser
import org.apache.spark.sql.streamjoin.errors.StreamJoinConditions
import org.scalatest.funsuite.AnyFunSuite

/** What is answered where a parser has stopped; Spark's versions stop at different words. */
class ForeignWordsSuite extends AnyFunSuite {

  StreamJoinConditions.register()

  private val asOf = "SELECT * FROM trades t ASOF JOIN quotes q"

  private def answered(text: String, near: String): Option[String] = {
    val refused = new ParseException(
      Some(text),
      Origin(line = Some(1), startPosition = Some(0)),
      "PARSE_SYNTAX_ERROR",
      Map("error" -> near, "hint" -> ""),
      Array.empty
    )
    Some(ForeignWords.of(text, refused)).filter(_ ne refused).map(_.getCondition)
  }

  test("ASOF JOIN without its MATCH_CONDITION is refused before any parser stops") {
    val unsupported = Some("STREAM_JOIN.UNSUPPORTED_AS_OF")
    assert(refused(s"$asOf USING (symbol, at)") == unsupported)
    assert(refused(asOf) == unsupported)
  }

  test("what is wrong elsewhere stays Spark's") {
    val whole = s"$asOf MATCH_CONDITION (t.at >= q.at) ON"
    assert(answered(s"$whole t.symbol = q.symbol AND ON", "'ON'").isEmpty)
    assert(answered("SELECT * FROM trades t JOIN quotes q ON ON", "'ON'").isEmpty)
    assert(answered(s"$asOf ON t.symbol = q.symbol WHERE )", "')'").isEmpty)
  }

  /** The condition with which a whole statement is refused before any analysis. */
  private def refused(text: String): Option[String] =
    try {
      parser.parsePlan(text)
      None
    } catch { case e: ParseException => Some(e.getCondition) }

  private lazy val parser = StreamSqlParser.around(new SparkSqlParser())

  test("FOR SYSTEM_TIME AS OF takes a column or a constant") {
    val rates = "SELECT * FROM orders o JOIN rates FOR SYSTEM_TIME AS OF"
    for (
      time <- Seq(
        "date_trunc('day', o.at)",
        "o.at - INTERVAL '1' MINUTE",
        "at + INTERVAL '1' MINUTE",
        "at::timestamp",
        "CASE WHEN o.k > 1 THEN o.at END",
        "date_trunc('day', at)"
      )
    ) assert(refused(s"$rates $time AS r ON o.k = r.k").nonEmpty, time)
    val unsupported = Some("STREAM_JOIN.UNSUPPORTED_AS_OF")
    assert(refused(s"$rates date_trunc('day', o.at) AS r ON o.k = r.k") == unsupported)
    for (time <- Seq("o.at AS", "at AS", "`o o`.time", "`a t`", "time", "timestamp", "case AS"))
      assert(refused(s"$rates $time r ON o.k = r.k").isEmpty, time)
    assert(
      refused("SELECT * FROM (SELECT * FROM o JOIN r FOR SYSTEM_TIME AS OF at) WHERE k > 0").isEmpty
    )
  }

  test("a constant time is Spark's own clause") {
    for (
      time <- Seq(
        "'2024-05-04'",
        "TIMESTAMP '2024-05-04'",
        "current_timestamp()",
        "12345",
        "CASE WHEN true THEN current_timestamp() ELSE TIMESTAMP '2024-05-04' END",
        "CASE 1 WHEN 1 THEN '2024-05-04' END AS r"
      )
    ) {
      val text = s"SELECT * FROM rates FOR SYSTEM_TIME AS OF $time"
      assert(parser.parsePlan(text) == new SparkSqlParser().parsePlan(text), time)
    }
    // Spark takes no word for a function here
    for (time <- Seq("current_timestamp", "current_date"))
      assert(refused(s"SELECT * FROM rates FOR SYSTEM_TIME AS OF $time").nonEmpty, time)
  }

  test("phrases of other dialects are answered wherever the parser stops") {
    for (
      text <- Seq(
        "SELECT * FROM t WATERMARK FOR at AS at - INTERVAL '1' MINUTE",
        "CREATE TABLE x (id INT, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '5' SECOND) USING json",
        "SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(at), INTERVAL '10' MINUTES))",
        "SELECT * FROM HOP(TABLE t, DESCRIPTOR(at), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)",
        "SELECT * FROM t EMIT CHANGES",
        "SELECT window, count(*) FROM t GROUP BY window EMIT ON WINDOW CLOSE",
        "SELECT * FROM a JOIN b WITHIN 1 HOUR ON a.id = b.id",
        "SELECT * FROM a JOIN b WITHIN (1 HOUR, 2 HOURS) ON a.id = b.id"
      )
    ) assert(refused(text).contains("STREAM_JOIN.OTHER_DIALECT"), text)
  }

  test("intervals of columns, and without the word INTERVAL, are answered with Spark's") {
    for (
      (written, instead) <- Seq(
        "INTERVAL o.n SECOND" -> "o.n * INTERVAL '1' SECOND",
        "interval `n` hours" -> "`n` * INTERVAL '1' HOURS",
        "INTERVAL a.o.n MINUTE" -> "a.o.n * INTERVAL '1' MINUTE",
        "INTERVAL (o.n + 1) MINUTE" -> "(o.n + 1) * INTERVAL '1' MINUTE",
        "10 MINUTES" -> "INTERVAL '10' MINUTES",
        "'10' MINUTE" -> "INTERVAL '10' MINUTE"
      );
      text <- Seq(
        s"SELECT * FROM o JOIN d ON o.k = d.k AND d.t <= o.t + $written",
        s"SELECT * FROM o JOIN d OVER (RANGE $written FOLLOWING) ON o.k = d.k"
      )
    ) {
      val e = intercept[ParseException](parser.parsePlan(text))
      assert(e.getCondition == "STREAM_JOIN.OTHER_DIALECT", text)
      assert(e.getMessage.contains(s"Write $instead."), text)
      assert(e.getMessage.contains(written), text)
    }
  }

  test("Spark's intervals, and units that are names, stay") {
    for (
      text <- Seq(
        "SELECT t + INTERVAL 1 HOUR 10 MINUTES FROM o",
        "SELECT t + INTERVAL -10 MINUTES FROM o",
        "SELECT 10 minutes, interval second FROM o"
      )
    ) assert(refused(text).isEmpty, text)
    for (
      text <- Seq(
        "SELECT 10 minutes FROM o WHERE )",
        "SELECT t + INTERVAL 1 HOUR 10 MINUTES FROM o WHERE )",
        "CREATE TABLE x (interval INTERVAL DAY TO SECOND, n INT"
      )
    ) assert(refused(text).contains("PARSE_SYNTAX_ERROR"), text)
  }

  test("a syntax error elsewhere, and words that only look alike, stay Spark's") {
    for (
      text <- Seq(
        "SELECT 'WATERMARK FOR at' FROM t WHERE )",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM t WHERE )",
        "SELECT emit, changes FROM t WHERE )"
      )
    ) assert(refused(text).contains("PARSE_SYNTAX_ERROR"), text)
    assert(
      refused("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM t").isEmpty
    )
  }

  test("other spellings of the hint") {
    for (hint <- Seq("STREAMJOIN", "stream_joins(late => 'emit')", "BROADCAST(a), StreamJoin(x)"))
      assert(
        refused(s"SELECT /*+ $hint */ * FROM a JOIN b").contains("STREAM_JOIN.INVALID_OPTION"),
        hint
      )
    for (hint <- Seq("STREAM_JOIN", "BROADCAST(streamjoin)", "MERGE(a, streamjoin), BROADCAST(b)"))
      assert(refused(s"SELECT /*+ $hint */ * FROM a JOIN b").isEmpty, hint)
  }
}
