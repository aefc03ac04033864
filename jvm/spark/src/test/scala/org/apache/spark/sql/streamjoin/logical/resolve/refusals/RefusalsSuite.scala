package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ImposeOrder

/** A refused join gets an error that names the cause and what to write. */
class RefusalsSuite extends AnalysisSession {

  private def source: DataFrame =
    stream("value AS id", "value % 3 AS k", "timestamp AS t", "value * 2 AS count")

  private def other: DataFrame =
    ordered(stream("value % 3 AS k", "timestamp AS s"), "s").as("r")

  private def missing(left: DataFrame, on: String = "l.k = r.k"): String = {
    val e = refusal(joined(left.as("l"), other, on))
    assert(e.getCondition == "STREAM_JOIN.MISSING_WATERMARK")
    e.getMessage
  }

  private def says(message: String, parts: String*): Unit =
    parts.foreach(part => assert(message.contains(part), message))

  test("the refusal says that the time is computed from the watermarked column") {
    for (
      (expression, name) <- Seq(
        "date_trunc('HOUR', t) AS hour" -> "hour",
        "t + INTERVAL '1' HOUR AS later" -> "later",
        "to_timestamp(CAST(t AS STRING)) AS t" -> "t",
        "CAST(t AS DATE) AS day" -> "day"
      )
    )
      says(
        missing(ordered(source, "t").selectExpr("k", expression)),
        "t below has a watermark, but",
        s"AS $name is computed from it",
        "Select t itself",
        s"impose the order on $name"
      )
  }

  test("the refusal says that a projection omits the watermarked column") {
    val message = missing(ordered(source, "t").select("k", "count"))
    says(message, "t below has a watermark, but", "omits it", "Select t up to this join")
    assert(!message.contains("imposeOrder"))
  }

  test("the refusal says that a nested SQL query omits the watermarked column") {
    ordered(source, "t").createOrReplaceTempView("o")
    other.createOrReplaceTempView("d")
    val text = "SELECT * FROM (SELECT k, c FROM (SELECT k, count AS c FROM o) WHERE c > 1) x " +
      "JOIN d ON x.k = d.k"
    says(refusal(session.sql(text)).getMessage, "t below has a watermark, but", "omits it")
  }

  test("the refusal suggests window_time instead of the start of a window") {
    val windows = ordered(source, "t").selectExpr("k", "window(t, '1 minute') AS w")
    says(missing(windows.selectExpr("k", "w.start AS e")), "one end of", "window_time(w) AS e")
  }

  test("the refusal suggests window_time instead of the window start of an aggregation") {
    ordered(source, "t").createOrReplaceTempView("o")
    other.createOrReplaceTempView("d")
    val text = "SELECT * FROM (SELECT k, window.start AS e, count(*) AS n FROM o " +
      "GROUP BY k, window(t, '1 minute')) x JOIN d ON x.k = d.k AND d.s >= x.e"
    says(refusal(session.sql(text)).getMessage, "one end of", "window_time(window) AS e")
  }

  test("the refusal suggests a window for an aggregation without one") {
    val message = missing(ordered(source, "t").groupBy("k").count())
    says(message, "an aggregation emits no event time", "window(t, '1 hour')")
  }

  test("the refusal suggests a TIMESTAMP below DISTINCT and GROUP BY of another type") {
    for (
      (time, made) <- Seq(
        "value AS n" -> "timestamp_seconds(n), or timestamp_micros",
        "CAST(timestamp AS DATE) AS n" -> "CAST(n AS TIMESTAMP) AS n",
        "CAST(timestamp AS TIMESTAMP_NTZ) AS n" -> "CAST(n AS TIMESTAMP) AS n"
      )
    ) {
      val lag = if (time.startsWith("value")) "10" else "INTERVAL '1' DAY"
      stream("value % 3 AS k", time).createOrReplaceTempView("numbers")
      session.sql(s"SELECT * FROM IMPOSE_ORDER(TABLE(numbers), DESCRIPTOR(n), $lag)")
        .createOrReplaceTempView("o")
      other.createOrReplaceTempView("d")
      for (
        (input, what) <- Seq(
          "SELECT DISTINCT n, k FROM o" -> "DISTINCT emits its rows",
          "SELECT n, k FROM o GROUP BY n, k" -> "an aggregation emits its rows"
        )
      ) {
        val text = s"SELECT * FROM ($input) x JOIN d ON x.k = d.k"
        says(refusal(session.sql(text)).getMessage, "n below has a watermark, but", what, made)
      }
    }
  }

  test("the query that is suggested for DISTINCT is accepted") {
    stream("value % 3 AS k", "value AS n").createOrReplaceTempView("numbers")
    other.createOrReplaceTempView("d")
    val text = "SELECT * FROM (SELECT DISTINCT n, k FROM IMPOSE_ORDER(TABLE(SELECT k, " +
      "timestamp_seconds(n) AS n FROM numbers), DESCRIPTOR(n), INTERVAL '10' SECONDS)) x " +
      "JOIN d ON x.k = d.k AND d.s BETWEEN x.n AND x.n + INTERVAL '5' SECONDS"
    assert(isOurs(analyzed(text)))
  }

  test("an error has the position of its join and no plan tree") {
    for ((view, time) <- Seq("o" -> "ot", "d" -> "dt", "x" -> "xt"))
      ordered(stream("value % 3 AS k", s"timestamp AS $time"), time).createOrReplaceTempView(view)
    val near = "o.k = x.k AND xt BETWEEN ot AND ot + INTERVAL '1' HOUR"
    for (
      (text, place) <- Seq(
        "SELECT * FROM o JOIN d ON o.k = d.k" -> "JOIN d",
        "SELECT * FROM o JOIN d ON o.k = d.k WHERE ot > dt" -> "JOIN d",
        "SELECT * FROM o, d WHERE o.k = d.k" -> "FROM o",
        s"SELECT * FROM o JOIN d ON o.k = d.k JOIN x ON $near" -> "JOIN d",
        s"SELECT * FROM o LEFT JOIN d ON o.k = d.k JOIN x ON $near" -> "LEFT JOIN d",
        s"SELECT * FROM (SELECT * FROM o JOIN d USING (k)) o JOIN x ON $near" -> "JOIN d"
      )
    ) {
      val e = refusal(session.sql(text))
      assert(e.getCondition == "STREAM_JOIN.UNBOUNDED_STATE")
      assert(!e.getMessage.contains("+-"), text)
      assert(e.startPosition.contains(text.indexOf(place)), e.getMessage)
    }
    val e = refusal(session.table("o").as("o").join(session.table("d").as("d"), "k"))
    assert(!e.getMessage.contains("+-"))
  }

  test("the refusal says that one input of a union has no watermark") {
    says(
      missing(ordered(source, "t").union(source)),
      "another input of the union has none at the same position",
      "Impose an order on t"
    )
  }

  test("the refusal suggests an order on a timestamp, not on a number, if the other is a time") {
    val numbers = stream("value AS k", "value AS n", "value AS price")
    assert(!missing(numbers).contains("imposeOrder("))
    says(missing(source.select("k", "count")), "None of these columns")
    says(missing(source), "imposeOrder(\"t\"")
  }

  test("the refusal suggests an order on a number only if the condition bounds the number") {
    val numbers = stream("value AS k", "value AS n", "value AS price").as("l")
    val right = PythonCalls
      .imposeOrder(stream("value AS k", "value AS s"), "s", java.util.Map.of("lag", 100))
      .as("r")
    def message(on: String): String = {
      val e = refusal(joined(numbers, right, on))
      assert(e.getCondition == "STREAM_JOIN.MISSING_WATERMARK")
      e.getMessage
    }
    for (on <- Seq("l.k = r.k", "l.k = r.k AND l.n = r.s")) {
      says(message(on), "None of these columns")
      assert(!message(on).contains("imposeOrder("), on)
    }
    says(message("l.k = r.k AND r.s BETWEEN l.n AND l.n + 5"), "l.imposeOrder(\"n\", 100)")
    says(message("l.k = r.k AND r.s >= l.price"), "l.imposeOrder(\"price\", 100)")
  }

  test("a window that is computed in ON is refused") {
    ordered(source, "t").createOrReplaceTempView("o")
    other.createOrReplaceTempView("d")
    for (
      list <- Seq("*", "x.k", "x.nothing", "count(*)");
      on <- Seq(
        "x.k = y.k AND window(x.t, '1 hour') = window(y.s, '1 hour')",
        "x.k = y.k AND window(x.t, '1 hour').end = window(y.s, '1 hour').end",
        "x.k = y.k AND session_window(x.t, '1 hour') = session_window(y.s, '1 hour')"
      );
      join <- Seq("JOIN", "LEFT JOIN", "LEFT SEMI JOIN")
    ) {
      val e = refusal(session.sql(s"SELECT $list FROM o x $join d y ON $on"))
      assert(e.getCondition == "STREAM_JOIN.UNSUPPORTED_CONDITION")
      says(e.getMessage, "a computed time window")
    }
  }

  private val On = "l.k = r.k AND r.s BETWEEN l.t AND l.t + INTERVAL 1 HOUR"

  test("withWatermark above an order or a join is refused") {
    val both = joined(ordered(source, "t").as("l"), other, On)
    for (
      make <- Seq[() => DataFrame](
        () => ordered(source, "t").withWatermark("t", "1 hour"),
        () => ordered(source, "t").selectExpr("*", "t AS u").withWatermark("u", "1 hour"),
        () => both.withWatermark("s", "1 minute")
      )
    ) {
      val e = intercept[AnalysisException](make())
      assert(e.getCondition == "STREAM_JOIN.SECOND_WATERMARK")
      says(e.getMessage, "imposeOrder")
      assert(!e.getMessage.contains("allowMultiple"))
    }
  }

  test("withWatermark below an order, on a table or on another union input is accepted") {

    /** The nodes that declare event times, from the top. */
    def declared(df: DataFrame): Seq[String] = planOf(df).collect {
      case o: ImposeOrder        => s"order on ${o.column.name}"
      case w: EventTimeWatermark => s"watermark of ${w.eventTime.name}"
    }
    assert(
      declared(ordered(source.withWatermark("t", "1 minute"), "t")) ==
        Seq("order on t", "watermark of t")
    )
    val table = ordered(session.range(3).selectExpr("timestamp_seconds(id) AS t"), "t")
    assert(declared(table.withWatermark("t", "1 minute")) == Nil)
    assert(
      declared(source.withWatermark("t", "1 minute").union(ordered(source, "t"))) ==
        Seq("watermark of t", "order on t", "watermark of t")
    )
  }
}
