package org.apache.spark.sql.streamjoin.sql

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ChangelogJoin, ImposeOrder}

/** Each valid SQL form is accepted. */
class SqlFormsSuite extends AnalysisSession {

  private lazy val streams: Unit = {
    for (name <- Seq("o", "d")) {
      val source = stream("value AS id", "value % 3 AS k", "timestamp AS t", "value AS n")
      source.createOrReplaceTempView(s"raw_$name")
      ordered(source, "t").createOrReplaceTempView(name)
    }
    stream("value AS stream", "value AS id", "timestamp AS t").createOrReplaceTempView("named")
    for (name <- Seq("event_time", "rowtime"))
      ordered(stream("value AS id", s"timestamp AS $name").selectExpr("id", s"$name AS ts"), "ts")
        .createOrReplaceTempView(s"renamed_from_$name")
    session.range(3).selectExpr("id", "timestamp_seconds(id) AS t").createOrReplaceTempView("table")
  }

  private val Bounds = "d.t BETWEEN o.t AND o.t + INTERVAL 1 HOUR"

  private def names(text: String): Seq[String] = {
    streams
    analyzed(text).output.map(_.name)
  }

  for (
    (text, columns) <- Seq(
      "SELECT STREAM id FROM o" -> Seq("id"),
      "SELECT STREAM id, k FROM o WHERE id > 3" -> Seq("id", "k"),
      "select stream `id` from o" -> Seq("id"),
      "SELECT STREAM k, count(*) AS c FROM o GROUP BY k, window(t, '1 hour')" -> Seq("k", "c"),
      "SELECT STREAM id FROM o UNION ALL SELECT STREAM id FROM d" -> Seq("id"),
      s"SELECT STREAM ko FROM (SELECT STREAM id, k AS ko FROM o)" -> Seq("ko"),
      s"SELECT * FROM (SELECT STREAM id FROM o) x" -> Seq("id"),
      s"WITH x AS (SELECT STREAM id, t FROM o) SELECT STREAM id FROM x" -> Seq("id"),
      "SELECT STREAM id FROM table" -> Seq("id"),
      "SELECT STREAM id, k, FROM o" -> Seq("id", "k"),
      "SELECT STREAM id, FROM o" -> Seq("id"),
      s"SELECT STREAM id, x, FROM (SELECT o.id, d.k AS x FROM o JOIN d ON o.k = d.k AND $Bounds)" ->
        Seq("id", "x"),
      s"SELECT STREAM i FROM o AS x(i, k, t, n) OUTER JOIN d ON x.k = d.k AND d.t BETWEEN x.t AND " +
        "x.t + INTERVAL 1 HOUR" -> Seq("i"),
      // relations with a column STREAM
      "SELECT STREAM id FROM named" -> Seq("id"),
      "SELECT STREAM AS id FROM named" -> Seq("id"),
      "SELECT STREAM a, id FROM named" -> Seq("a", "id"),
      "SELECT STREAM x FROM (SELECT id AS stream FROM o)" -> Seq("x")
    )
  )
    test(s"output columns of $text")(assert(names(text) == columns))

  test("SELECT stream reads the column if the relation has one") {
    streams
    for (text <- Seq("SELECT stream id FROM named", "SELECT stream AS id FROM named")) {
      assert(analyzed(text).collectFirst {
        case p: org.apache.spark.sql.catalyst.plans.logical.Project => p.projectList.head
      }.exists(_.sql.contains("stream")))
    }
  }

  for (
    text <- Seq(
      "SELECT stream AS id FROM o",
      "SELECT `stream` id FROM o",
      "SELECT id, stream k FROM o",
      "SELECT STREAM nothing FROM o"
    )
  )
    test(s"Spark reports an unresolved column: $text") {
      streams
      assert(
        intercept[AnalysisException](analyzed(text)).getCondition.startsWith("UNRESOLVED_COLUMN")
      )
    }

  for (
    text <- Seq(
      s"FROM o |> JOIN d ON o.k = d.k |> WHERE $Bounds",
      s"FROM o, d |> WHERE o.k = d.k AND $Bounds",
      s"FROM o |> CROSS JOIN d |> WHERE o.k = d.k |> WHERE $Bounds",
      s"FROM o |> JOIN d ON o.k = d.k |> WHERE $Bounds |> SELECT o.id",
      "FROM o |> SELECT id, k, t |> AS x |> JOIN d ON x.k = d.k " +
        "|> WHERE d.t BETWEEN x.t AND x.t + INTERVAL 1 HOUR",
      "FROM o |> JOIN d ON o.k = d.k |> SELECT o.id, o.t AS a, d.t AS b " +
        "|> WHERE b BETWEEN a AND a + INTERVAL 1 HOUR",
      "FROM o |> JOIN d ON o.k = d.k |> EXTEND o.id + 1 AS next |> DROP next " +
        s"|> WHERE $Bounds",
      "FROM o |> JOIN d USING (k) |> SELECT k, o.t AS a, d.t AS b |> SET k = k + 1 " +
        "|> WHERE b BETWEEN a AND a + INTERVAL 1 HOUR",
      s"FROM o |> LEFT JOIN d ON o.k = d.k AND $Bounds |> WHERE o.id > 3"
    )
  )
    test(s"a stream join in pipe syntax: $text") {
      streams
      assert(isOurs(analyzed(text)))
    }

  for (
    input <- Seq(
      "(SELECT * FROM raw_o)",
      "((SELECT * FROM raw_o))",
      "(FROM raw_o)",
      "(TABLE raw_o)",
      "TABLE raw_o",
      "TABLE (SELECT * FROM raw_o)",
      "STREAM raw_o",
      "STREAM(raw_o)",
      "STREAM (raw_o)",
      "(STREAM raw_o)",
      "TABLE(STREAM raw_o)",
      "TABLE(STREAM(raw_o))",
      "TABLE STREAM raw_o",
      "TABLE(SELECT STREAM id, k, t FROM raw_o)",
      "(SELECT STREAM id, k, t FROM raw_o)",
      "(WITH x AS (SELECT * FROM raw_o) SELECT * FROM x)"
    )
  )
    test(s"IMPOSE_ORDER and FROM_UPSERTS accept the input $input") {
      streams
      for (
        order <- Seq(
          s"IMPOSE_ORDER($input, DESCRIPTOR(t), INTERVAL '1' MINUTE)",
          s"impose_order(lag => '1 minute', column => 't', input => $input)",
          s"TABLE(IMPOSE_ORDER($input, DESCRIPTOR(t), INTERVAL '1' MINUTE))"
        )
      )
        assert(
          isOurs(analyzed(s"SELECT o.id FROM $order o JOIN d ON o.k = d.k AND $Bounds")),
          order
        )
      for (
        changes <- Seq(
          s"FROM_UPSERTS($input, DESCRIPTOR(id), DESCRIPTOR(t))",
          s"from_upserts(sequence_by => 't', key => 'id', input => $input)",
          s"TABLE(FROM_UPSERTS($input, DESCRIPTOR(id), DESCRIPTOR(t)))"
        )
      )
        assert(
          analyzed(s"SELECT o.id FROM $changes o JOIN d ON o.k = d.k").exists {
            case _: ChangelogJoin => true
            case _                => false
          },
          changes
        )
    }

  test("a common table expression is joined with IMPOSE_ORDER, and refused without it") {
    streams
    val x = "(WITH x AS (SELECT k, t AS s FROM raw_d) SELECT * FROM x)"
    val on = "o.k = y.k AND y.s BETWEEN o.t AND o.t + INTERVAL 1 HOUR"
    assert(
      isOurs(analyzed(s"SELECT o.id FROM o JOIN IMPOSE_ORDER(TABLE$x, 's', '1 hour') y ON $on"))
    )
    assert(
      refusal(analyzed(s"SELECT o.id FROM o JOIN $x y ON $on")).getCondition ==
        "STREAM_JOIN.MISSING_WATERMARK"
    )
  }

  test("IMPOSE_ORDER accepts an input with a WATERMARK clause") {
    streams
    assert(isOurs(analyzed(
      "SELECT o.id FROM IMPOSE_ORDER(STREAM(raw_o) WATERMARK t DELAY OF INTERVAL 1 MINUTE, " +
        s"DESCRIPTOR(n), 5) o JOIN d ON o.k = d.k AND $Bounds"
    )))
  }

  for (
    (lag, seconds) <- Seq(
      "'1 minute'" -> 60,
      "'INTERVAL 1 minute'" -> 60,
      "\"INTERVAL '1' MINUTE\"" -> 60,
      "\"interval '01:30' minute to second\"" -> 90,
      "\"INTERVAL '1 02' DAY TO HOUR\"" -> 26 * 3600
    )
  )
    test(s"the watermark of IMPOSE_ORDER has the lag $lag") {
      streams
      val plan = analyzed(s"SELECT id FROM IMPOSE_ORDER(TABLE(raw_o), 't', $lag)")
      assert(plan.collect { case o: ImposeOrder => o.lag } == Seq(seconds * 1000000L))
    }

  test("imposeOrder refuses a lag with months, a negative lag and a malformed lag") {
    streams
    for (
      (lag, condition) <- Seq(
        "INTERVAL '1' MONTH" -> "CALENDAR_INTERVAL",
        "INTERVAL '-1' MINUTE" -> "NEGATIVE_LAG",
        "INTERVAL" -> "INVALID_LAG",
        "current_timestamp()" -> "INVALID_LAG"
      )
    )
      assert(
        refusal(ordered(
          stream("timestamp AS t"),
          "t",
          lag
        )).getCondition == s"STREAM_JOIN.$condition"
      )
  }

  test("the refusal of an interval with months names the purpose of the argument") {
    streams
    for (
      (arguments, effect) <- Seq(
        "INTERVAL '1' MONTH" -> "so it does not bound how long the join buffers a row.",
        "'0 seconds', idle_timeout => '1 month'" -> "so it does not define when the input is idle.",
        "'0 seconds', max_ahead => '1 year'" ->
          "so it does not bound how far ahead of the clock a time may be."
      )
    ) {
      val e = refusal(
        analyzed(s"SELECT * FROM IMPOSE_ORDER(TABLE(raw_o), DESCRIPTOR(t), $arguments)")
      )
      assert(e.getCondition == "STREAM_JOIN.CALENDAR_INTERVAL")
      assert(e.getMessage.contains(effect))
    }
  }

  for (name <- Seq("event_time", "rowtime"))
    test(s"ROWTIME resolves to an event time that is renamed from $name") {
      streams
      for (
        text <- Seq(
          s"SELECT ROWTIME, id FROM renamed_from_$name",
          s"SELECT x.ROWTIME, id FROM renamed_from_$name x",
          s"SELECT id FROM renamed_from_$name x WHERE ROWTIME > now()"
        )
      )
        assert(analyzed(text).resolved)
      assert(names(s"SELECT ROWTIME FROM renamed_from_$name") == Seq("ROWTIME"))
    }

  for (ty <- Seq("TIMESTAMP", "TIMESTAMP_NTZ"))
    test(s"a join on equal windows of $ty is a stream join") {
      def side(alias: String) =
        ordered(stream("value % 3 AS k", s"CAST(timestamp AS $ty) AS t"), "t")
          .selectExpr("k", "window(t, '1 minute') AS w").as(alias)
      for (how <- Seq("inner", "left", "full"))
        assert(isOurs(planOf(joined(side("l"), side("r"), "l.k = r.k AND l.w = r.w", how))))
    }

  for (mode <- Seq("", "EXTENDED", "FORMATTED", "COST"))
    test(s"EXPLAIN $mode shows the stream join and its watermarks") {
      streams
      val query = s"SELECT o.id FROM o JOIN d ON o.k = d.k AND $Bounds"
      val text = session.sql(s"EXPLAIN $mode $query").head().getString(0)
      assert(!text.contains("Error occurred"))
      assert(text.contains("StreamJoin") && text.contains("watermark of o.t"))
    }

  test("EXPLAIN of a table or of an invalid query has Spark's output") {
    streams
    assert(session.sql("EXPLAIN SELECT * FROM table").head().getString(0).contains("Physical Plan"))
    val wrong = session.sql("EXPLAIN SELECT nothing FROM o").collect().map(_.getString(0))
    assert(wrong.exists(_.contains("UNRESOLVED_COLUMN")))
  }
}
