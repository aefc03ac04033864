package org.apache.spark.sql.streamjoin.logical.resolve.asof

import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.{AnalysisSession, ColumnNames}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.AsOfJoin

/** The event times that an as-of join compares. */
class AsOfTimesSuite extends AnalysisSession {

  private lazy val streams: Unit = {
    for (name <- Seq("o", "d", "w"))
      ordered(stream("value AS k", "timestamp AS t"), "t").createOrReplaceTempView(name)
    session.sql(
      "SELECT o.k, o.t AS early, d.t AS late FROM o JOIN d ON o.k = d.k " +
        "AND d.t BETWEEN o.t AND o.t + INTERVAL 1 HOUR"
    ).createOrReplaceTempView("both")
  }

  private val Window = "w OVER (ROWS 1 PRECEDING) AS w"

  private def times(plan: LogicalPlan): Seq[String] =
    plan.collectFirst { case j: AsOfJoin => j.times.map(ColumnNames.of(_)) }.get

  private def chosen(relation: String): Seq[String] = {
    streams
    times(analyzed(s"SELECT * FROM $relation"))
  }

  /** Sets the time zone explicitly, since suites of Spark change it in the same process. */
  private def in(zone: String)(f: => Any): Unit = {
    session.conf.set("spark.sql.session.timeZone", zone)
    try f: Unit
    finally session.conf.unset("spark.sql.session.timeZone")
  }

  private def byOption(condition: String): Seq[String] = {
    streams
    times(analyzed(
      s"SELECT /*+ STREAM_JOIN(match => 'last') */ * FROM both JOIN w ON $condition"
    ))
  }

  for (
    (condition, time) <- Seq(
      "w.t <= both.late" -> "late",
      "w.t <= both.early" -> "early",
      "w.t >= both.late - INTERVAL 1 HOUR" -> "late",
      "both.early - INTERVAL 1 HOUR < w.t" -> "early",
      "w.t <= both.late AND w.t >= both.late - INTERVAL 1 HOUR" -> "late"
    )
  )
    test(s"the condition selects one of two probe-side event times: $condition") {
      val on = s"both.k = w.k AND $condition"
      assert(chosen(s"both JOIN $Window ON $on") == Seq(s"both.$time", "w.t"))
      assert(byOption(on) == Seq(s"both.$time", "w.t"))
    }

  private val AsOf = "o ASOF JOIN w MATCH_CONDITION (o.t >= w.t) ON o.k = w.k AND"

  private val Young = "w.t >= o.t - INTERVAL 1 HOUR"

  for (
    condition <- Seq(
      "o.t >= greatest(w.t, timestamp_seconds(w.k))",
      "w.t <= least(o.t, timestamp_seconds(w.k))",
      "least(w.t, timestamp_seconds(w.k)) >= o.t - INTERVAL 1 HOUR",
      s"($Young AND w.k > 0) IS TRUE",
      s"($Young AND w.k > 0) = TRUE",
      s"TRUE <=> ($Young AND w.k > 0)"
    )
  ) test(s"an ASOF JOIN refuses a bound that does not compare the times alone: $condition") {
    streams
    val refused = refusal(analyzed(s"SELECT * FROM $AsOf $condition"))
    assert(refused.getCondition == "STREAM_JOIN.UNSUPPORTED_AS_OF")
    assert(refused.getMessage.contains("Filter the right input"))
  }

  for (condition <- Seq(Young, "o.t - w.t <= INTERVAL 1 HOUR", "o.t > w.t", "o.k > 0"))
    test(s"an ASOF JOIN accepts $condition")(in("UTC") {
      assert(chosen(s"$AsOf $condition") == Seq("o.t", "w.t"))
    })

  test("an ASOF JOIN refuses a difference of timestamps in a zone with daylight saving") {
    in("America/New_York") {
      streams
      val relation = s"$AsOf o.t - w.t <= INTERVAL 1 HOUR"
      val refused = refusal(analyzed(s"SELECT * FROM $relation"))
      assert(refused.getCondition == "STREAM_JOIN.UNSUPPORTED_AS_OF")
    }
  }

  test("the refusal of a misplaced window names its SQL form") {
    streams
    for (
      (arguments, name) <- Seq(
        "TRUE, 'ASOF'" -> "STREAM_WINDOW(..., 'ASOF')",
        "o.t, 'SYSTEM_TIME'" -> "FOR SYSTEM_TIME AS OF",
        "2, 'ROWS PRECEDING'" -> "OVER (ROWS 2 PRECEDING)"
      )
    ) {
      val text = s"SELECT * FROM STREAM_WINDOW(TABLE(SELECT * FROM w), $arguments)"
      assert(refusal(analyzed(text)).getMessage.contains(s"$name is on a relation"))
    }
  }

  test("the condition selects one of two build-side event times") {
    val window = "both OVER (ROWS 2 PRECEDING) AS both"
    assert(chosen(s"w JOIN $window ON w.k = both.k AND both.late <= w.t") == Seq(
      "w.t",
      "both.late"
    ))
    assert(chosen(s"$window JOIN w ON w.k = both.k AND both.early <= w.t") == Seq(
      "both.early",
      "w.t"
    ))
  }

  test("an as-of join that compares none or both of two event times is refused") {
    streams
    for (
      condition <- Seq(
        "both.k = w.k",
        "both.k = w.k AND w.t <= both.late AND w.t >= both.early",
        "both.k = w.k AND both.early = w.t"
      )
    ) {
      val e = refusal(analyzed(s"SELECT * FROM both JOIN $Window ON $condition"))
      assert(e.getMessage.contains("both.early and both.late"), condition)
    }
  }

  test("ROWTIME of an as-of join is the event time of the probe side") {
    streams
    for (
      (relation, time) <- Seq(
        s"o JOIN $Window ON o.k = w.k" -> "o.t",
        s"o JOIN $Window ON o.k = w.k AND w.t >= o.t - INTERVAL 1 HOUR" -> "o.t",
        s"o LEFT JOIN $Window ON o.k = w.k AND w.t >= o.t - INTERVAL 1 HOUR" -> "o.t",
        s"$Window JOIN o ON o.k = w.k AND w.t >= o.t - INTERVAL 1 HOUR" -> "o.t",
        s"both JOIN $Window ON both.k = w.k AND w.t <= both.early" -> "both.early"
      )
    )
      assert(
        analyzed(s"SELECT ROWTIME FROM $relation")
          .asInstanceOf[Project].projectList.head
          .collectFirst { case a: AttributeReference => ColumnNames.of(a) }.contains(time),
        relation
      )
  }
}
