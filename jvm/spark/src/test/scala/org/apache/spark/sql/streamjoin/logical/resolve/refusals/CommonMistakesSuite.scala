package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import java.util.{List => JList, Map => JMap}

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}

import io.streamjoin.PythonApi

/** Mistakes that Spark would accept, or refuse in its own words; each is answered with a line. */
class CommonMistakesSuite extends AnalysisSession {

  private lazy val streams: Unit = {
    orders.createOrReplaceTempView("o")
    deliveries.createOrReplaceTempView("d")
    rates.createOrReplaceTempView("v")
  }

  private def orders: DataFrame =
    ordered(stream("value AS id", "CAST(value AS STRING) AS name", "timestamp AS ot"), "ot")

  private def deliveries: DataFrame =
    ordered(stream("value AS id", "CAST(value AS STRING) AS name", "timestamp AS dt"), "dt")

  private def rates: DataFrame =
    PythonCalls.fromUpserts(deliveries, JList.of("id"), "dt", null)

  private val Within = "o.id = d.id AND d.dt BETWEEN o.ot AND o.ot + INTERVAL 1 HOUR"

  private def sql(text: String): DataFrame = {
    streams
    session.sql(text)
  }

  private def join(right: DataFrame, on: Any, options: (String, Any)*): DataFrame = {
    val values = new java.util.HashMap[String, Any]
    options.foreach { case (name, value) => values.put(name, value) }
    PythonApi.streamJoin(orders.as("o"), right, on, "inner", values)
  }

  private def answered(condition: String, parts: String*)(query: => Any): Unit = {
    val e = refusal(query)
    assert(e.getCondition == s"STREAM_JOIN.$condition")
    parts.foreach(part => assert(e.getMessage.contains(part), e.getMessage))
  }

  // ---- values without an effect ----

  for (timeout <- Seq("0 seconds", "999 microseconds", "0"))
    test(s"an idle_timeout of $timeout is refused") {
      val options = JMap.of[String, Any]("lag", "1 minute", "idle_timeout", s"$timeout")
      answered("INVALID_LAG", "idle_timeout", "'1 minute'")(
        PythonCalls.imposeOrder(stream("timestamp AS t"), "t", options)
      )
    }

  test("an idle_timeout of a millisecond is accepted") {
    val options = JMap.of[String, Any]("lag", "1 minute", "idle_timeout", "1 millisecond")
    PythonCalls.imposeOrder(stream("timestamp AS t"), "t", options)
  }

  test("a retention of zero is refused, by an option and by the setting") {
    val found = Seq("the retention '0 seconds'", "it is zero", "d.dt = o.ot")
    answered("INVALID_LAG", found: _*)(
      join(deliveries.as("d"), "o.id = d.id AND d.dt >= o.ot", "retention" -> "0 seconds")
    )
    session.conf.set("spark.sql.streamJoin.retention", "0 seconds")
    try answered("INVALID_LAG", "it is zero")(join(deliveries.as("d"), "o.id = d.id"))
    finally session.conf.unset("spark.sql.streamJoin.retention")
  }

  test("a retention that is zero days of a DATE is refused") {
    def days(name: String) =
      sql(s"SELECT * FROM IMPOSE_ORDER(TABLE(SELECT id, CAST(ot AS DATE) AS day FROM o), " +
        "DESCRIPTOR(day), INTERVAL 1 DAY)").as(name)
    answered("INVALID_LAG", "zero in the unit of the column")(
      PythonApi.streamJoin(
        days("a"),
        days("b"),
        "a.id = b.id",
        "inner",
        JMap.of[String, Any]("retention", "1 hour")
      )
    )
  }

  // ---- options ----

  test("an unknown option is answered with the similar one and its values alone") {
    val e = refusal(sql(s"SELECT /*+ STREAM_JOIN(lat => 'emit') */ * FROM o JOIN d ON $Within"))
    assert(e.getMessage.contains("no option lat, but late, which is 'drop' or 'emit'"))
    assert(!e.getMessage.contains("retention"))
  }

  test("an option that resembles none is answered with the names") {
    answered("INVALID_OPTION", "there is no option xyz, but late, retention, mode, emit")(
      join(deliveries.as("d"), Within, "xyz" -> "1")
    )
  }

  test("a wrong value, and an option of another kind, are answered without the other options") {
    for (option <- Seq("late" -> "yes", "state_ttl" -> "1 day")) {
      val e = refusal(join(deliveries.as("d"), Within, option))
      assert(e.getMessage.contains(option._1))
      assert(!e.getMessage.contains("retention"), e.getMessage)
    }
  }

  // ---- types ----

  for (
    (wrong, instead) <- Seq(
      "d.dt - o.ot < '1 hour'" -> "Compare (d.dt - o.ot) with INTERVAL '1 hour'",
      "'1 hour' >= d.dt - o.ot" -> "INTERVAL '1 hour'",
      "d.dt - o.ot BETWEEN INTERVAL 0 HOURS AND '1 hour'" -> "INTERVAL '1 hour'",
      "d.dt - o.ot < '90'" -> "INTERVAL '90' SECOND",
      "d.dt <= o.ot + '1 hour'" -> "Write o.ot + INTERVAL '1 hour'"
    )
  )
    test(s"a text instead of an interval is answered: $wrong") {
      answered("TIME_TYPE_MISMATCH", instead)(
        sql(s"SELECT * FROM o JOIN d ON o.id = d.id AND d.dt >= o.ot AND $wrong")
      )
    }

  private def c(name: String) = col(name)

  for (
    (name, condition) <- Seq(
      "numbers, cast by Spark" ->
        (c("o.id") === (c("d.id") && (c("d.dt") >= c("o.ot")) && (c("d.dt") <= c("o.ot")))),
      "text, cast by Spark" ->
        (c("o.name") === (c("d.name") && (c("d.dt") >= c("o.ot")) && (c("d.dt") <= c("o.ot")))),
      "a time" -> (((c("o.id") === c("d.id")) && c("d.dt")) >= c("o.ot")),
      "an alternative" -> (((c("o.id") === c("d.id")) || c("o.name")) === c("d.name"))
    )
  )
    test(s"a Column without parentheses is answered: $name") {
      answered("UNSUPPORTED_CONDITION", "a value where a condition is required", "in parentheses")(
        join(deliveries.as("d"), condition)
      )
    }

  test("a text that Spark casts to a condition is not the reason of another mismatch") {
    answered("TIME_TYPE_MISMATCH", "INTERVAL '5' SECOND")(
      sql("SELECT * FROM o JOIN d ON o.name AND o.id = d.id AND d.dt <= o.ot + 5")
    )
  }

  test("a comparison of a BOOLEAN column with a condition is none of these") {
    val flagged = ordered(stream("value AS id", "value > 3 AS flag", "timestamp AS dt"), "dt")
    val on = Within + " AND d.flag = (o.id > 4 AND d.flag)"
    assert(isOurs(planOf(join(flagged.as("d"), on))))
  }

  // ---- changelogs ----

  test("a temporal join whose input has lost its row kind is answered with the column to keep") {
    answered("CHANGE_TYPE_DROPPED", "the right input (id, dt)", "Keep the column _change_type")(
      join(rates.select("id", "dt").as("v"), "o.id = v.id", "match" -> "last")
    )
  }

  test("upserts without a sequence are answered in SQL and in Python") {
    answered("MISSING_SEQUENCE", "sequence_by => DESCRIPTOR(column)", "sequence_by=\"column\"")(
      PythonCalls.fromUpserts(deliveries, JList.of("id"), null, null)
    )
  }

  // ---- other dialects ----

  for (
    text <- Seq(
      "SELECT * FROM o JOIN v FOR SYSTEM_TIME AS OF PROCTIME() ON o.id = v.id",
      "SELECT *, proctime() AS p FROM o"
    )
  )
    test(s"PROCTIME is answered: $text") {
      answered("OTHER_DIALECT", "PROCTIME()", "FOR SYSTEM_TIME AS OF o.order_time")(sql(text))
    }

  for (
    text <- Seq(
      "SELECT * FROM o, LATERAL TABLE(rates(o.ot)) AS r WHERE o.id = r.id",
      "SELECT * FROM o JOIN LATERAL TABLE(Rates(ot)) AS r ON o.id = r.id"
    )
  )
    test(s"a temporal table function is answered: $text") {
      answered("OTHER_DIALECT", "LATERAL TABLE", "FOR SYSTEM_TIME AS OF o.order_time")(sql(text))
    }

  test("the answer to a temporal table function is a query") {
    val text = "SELECT o.id, r.name FROM o JOIN FROM_UPSERTS(TABLE(d), key => DESCRIPTOR(id), " +
      "sequence_by => DESCRIPTOR(dt)) FOR SYSTEM_TIME AS OF o.ot AS r ON o.id = r.id"
    assert(sql(text).columns.toSeq == Seq("id", "name"))
  }

  test("a function of the session has precedence") {
    session.udf.register("proctime", () => 1L)
    try assert(sql("SELECT proctime() AS p FROM o").columns.toSeq == Seq("p"))
    finally session.sql("DROP TEMPORARY FUNCTION proctime"): Unit
  }
}
