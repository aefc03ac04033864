package org.apache.spark.sql.streamjoin.logical.resolve.shared

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.analysis.ZonedPart
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{AsOfJoin, StreamJoin, StreamOrder}

/** The parts of the inputs of joins and orders that depend on the session time zone. */
class ZonedInputSuite extends AnalysisSession {

  private val Local = "CAST(timestamp AS TIMESTAMP_NTZ) AS t"
  private val Bound = "b.t BETWEEN a.t AND a.t + INTERVAL '1' HOUR"

  private def input(name: String, columns: String*): DataFrame =
    ordered(stream(columns: _*), "t").as(name)

  private def zoned(df: DataFrame): Set[String] =
    session.sessionState.optimizer.execute(planOf(df)).collect(parts).flatten.map(_.sql).toSet

  private val parts: PartialFunction[LogicalPlan, Seq[ZonedPart]] = {
    case j: StreamJoin  => j.analysis.zoned
    case j: AsOfJoin    => j.analysis.zoned
    case o: StreamOrder => o.zoned
  }

  private def of(columns: String*)(on: String): Set[String] =
    zoned(joined(input("a", columns: _*), input("b", columns: _*), on))

  private val Cast = "CAST(timestamp AS TIMESTAMP_NTZ)"

  /** The columns of [[Local]], with an expression that can be told apart. */
  private def other: DataFrame = ordered(
    stream("value AS k", "timestamp AS at").selectExpr("k", "CAST(at AS TIMESTAMP_NTZ) AS t"),
    "t"
  )

  private val Both = Set(Cast, "CAST(at AS TIMESTAMP_NTZ)")

  test("an event time is zoned if its expression depends on the session time zone") {
    val local = input("a", "value AS k", Local)
    assert(zoned(joined(local, other.as("b"), s"a.k = b.k AND $Bound")) == Both)
    for (
      (time, depends) <- Seq(
        "timestamp + INTERVAL '5' MINUTE" -> false,
        "timestamp_seconds(value)" -> false,
        "date_trunc('SECOND', timestamp)" -> false,
        "date_trunc('DAY', timestamp)" -> true,
        "to_timestamp(CAST(value AS STRING))" -> true,
        "from_utc_timestamp(timestamp, 'Asia/Tokyo')" -> false,
        "window(timestamp, '1 minute').end" -> false
      )
    ) {
      val found = of("value AS k", s"$time AS t")(s"a.k = b.k AND $Bound")
      assert(found.nonEmpty == depends, s"$time: $found")
    }
  }

  test("a key may be zoned, a column that is only selected or filtered on is not") {
    val day = "CAST(timestamp AS DATE) AS day"
    assert(of(day, "timestamp AS t")(s"a.day = b.day AND $Bound") == Set("CAST(timestamp AS DATE)"))
    assert(of(day, "value AS k", "timestamp AS t")(s"a.k = b.k AND $Bound").isEmpty)
    val some = input("a", "value AS k", "timestamp AS t").where("hour(a.t) > 3")
    assert(zoned(joined(
      some,
      input("b", "value AS k", "timestamp AS t"),
      s"a.k = b.k AND $Bound"
    )).isEmpty)
  }

  test("zoned parts are found below projections, unions, aggregations and joins") {
    val once =
      stream("value AS k", "timestamp AS at").selectExpr("k", "CAST(at AS TIMESTAMP_NTZ) AS l")
    val both =
      once.selectExpr("k", "l AS t").union(stream("value", "CAST('2024-01-01' AS TIMESTAMP_NTZ)"))
    val a = ordered(both, "t").as("a")
    val b = input("b", "value AS k", Local)
    assert(zoned(joined(a, b, s"a.k = b.k AND $Bound")) == Set("CAST(at AS TIMESTAMP_NTZ)", Cast))

    val day = input("a", "value AS k", "CAST(timestamp AS DATE) AS day", "timestamp AS t")
    val lower = joined(day, input("b", "value AS k", "timestamp AS t"), s"a.k = b.k AND $Bound")
    assert(zoned(lower).isEmpty)
    val c = ordered(stream("current_date() AS d", "timestamp AS ct"), "ct").as("c")
    val upper = joined(lower, c, "a.day = c.d AND c.ct BETWEEN a.t AND a.t + INTERVAL '1' HOUR")
    assert(zoned(upper).contains("CAST(timestamp AS DATE)"))

    ordered(stream("value AS k", "timestamp AS t"), "t").createOrReplaceTempView("s")
    val days = session.sql(
      "SELECT window, date_trunc('DAY', window.start) AS day FROM s GROUP BY window(t, '1 hour')"
    ).selectExpr("window_time(window) AS t", "day").as("a")
    assert(zoned(joined(days, input("b", "timestamp AS t"), s"a.day = b.t AND $Bound")).size == 1)
  }

  test("an order records its zoned event time, an as-of join both, none a second sort key") {
    val local = input("a", "value AS k", "CAST(timestamp AS DATE) AS day", Local)
    assert(zoned(local.orderBy("t")) == Set(Cast))
    val plain = input("a", "value AS k", "CAST(timestamp AS DATE) AS day", "timestamp AS t")
    assert(zoned(plain.orderBy("t", "day")).isEmpty)
    local.createOrReplaceTempView("l")
    other.createOrReplaceTempView("r")
    for (from <- Seq("l AS a JOIN r", "r AS a JOIN l"))
      assert(
        zoned(
          session.sql(s"SELECT * FROM $from OVER (ROWS 1 PRECEDING) AS b ON a.k = b.k")
        ) == Both,
        from
      )
  }

  test("a column parsed from text is zoned only if it is a TIMESTAMP") {
    def parsed(schema: String, more: String = "value AS k") = stream(
      s"from_json(CAST(value AS STRING), '$schema') AS v",
      more
    ).selectExpr("k", "v.*")
    def both(one: DataFrame) =
      zoned(joined(
        ordered(one, "t").as("a"),
        input("b", "value AS id", "timestamp AS t"),
        s"a.id = b.id AND $Bound"
      ))
    assert(both(parsed("id BIGINT, t TIMESTAMP")).size == 1)
    val millis = parsed("id BIGINT, ms BIGINT, seen TIMESTAMP")
      .selectExpr("id", "timestamp_millis(ms) AS t", "seen")
    assert(both(millis).isEmpty)
    assert(both(millis.selectExpr("id", "seen AS t")).size == 1)
  }
}
