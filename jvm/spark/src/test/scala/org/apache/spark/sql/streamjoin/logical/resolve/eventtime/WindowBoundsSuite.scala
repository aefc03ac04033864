package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import org.apache.spark.sql.{classic, AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streamjoin.logical.StreamsInSql
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin

/** Ends and starts of windows as event times in join conditions. */
class WindowBoundsSuite extends StreamsInSql {

  private val Second = 1000000L

  private def ten: DataFrame =
    spark.table("oi").select(col("id"), window(col("ot"), "10 seconds").as("v")).as("o")

  private def twenty: DataFrame =
    spark.table("di").select(col("id"), window(col("dt"), "20 seconds").as("w"), col("dt")).as("d")

  private def sliding: DataFrame =
    spark.table("di").select(
      col("id"),
      window(col("dt"), "20 seconds", "10 seconds").as("w")
    ).as("d")

  private def counted(df: DataFrame): DataFrame = df.groupBy("w").count()

  private def sessions: DataFrame =
    spark.table("di").groupBy(
      session_window(col("dt"), "20 seconds").as("w"),
      col("id")
    ).count().as("d")

  private def analyzed(df: DataFrame): LogicalPlan =
    df.asInstanceOf[classic.DataFrame].queryExecution.analyzed

  /** The bounds `later >= earlier - seconds` of a join, equal before and after the optimizer. */
  private def bounds(joined: DataFrame): Set[(String, String, Long)] = {
    def of(plan: LogicalPlan) = {
      val j = plan.collectFirst { case j: StreamJoin => j }.get
      val columns = j.analysis.bounds.columns
      j.analysis.bounds.conjuncts.map { b =>
        (columns(b.later).name, columns(b.earlier).name, b.slack / Second)
      }.toSet
    }
    val before = of(analyzed(joined))
    assert(of(optimized(joined)) == before)
    before
  }

  private def bounded(
      name: String,
      left: => DataFrame,
      right: => DataFrame,
      on: String
  )(expected: (String, String, Long)*): Unit =
    test(s"$name: $on") {
      for (how <- Seq("inner", "left", "full"))
        assert(bounds(left.join(right, expr(on), how)) == expected.toSet, how)
    }

  private val tenLater = Seq(("o.v", "d.w", 10L), ("d.w", "o.v", -10L))

  bounded("window ends", ten, twenty, "o.v.end = d.w.end - INTERVAL '10' SECOND")(tenLater: _*)
  bounded(
    "window ends, with the sides swapped",
    ten,
    twenty,
    "d.w.end - INTERVAL '10' SECOND = o.v.end"
  )(tenLater: _*)
  bounded("window starts", ten, twenty, "o.v.start = d.w.start")(tenLater: _*)
  bounded(
    "a window start and a window end",
    ten,
    twenty,
    "o.v.end = d.w.start + INTERVAL '10' SECOND"
  )(tenLater: _*)
  bounded(
    "nested windows",
    ten,
    twenty,
    "o.v.start >= d.w.start AND o.v.end <= d.w.end"
  )(("o.v", "d.w", 10L), ("d.w", "o.v", 0L))
  bounded("sliding windows", ten, sliding, "o.v.start = d.w.start")(tenLater: _*)
  bounded("a time within a window", ten, twenty, "d.dt >= o.v.start AND d.dt < o.v.end")(
    ("d.dt", "o.v", 10L),
    ("o.v", "d.dt", 0L)
  )
  bounded("windows of one aggregation", ten, counted(twenty).as("d"), "o.v.start = d.w.start")(
    tenLater: _*
  )
  bounded(
    "windows of two aggregations",
    ten.groupBy("v").count().as("o"),
    counted(sliding).as("d"),
    "o.v.start = d.w.start"
  )(tenLater: _*)
  bounded(
    "windows above projections",
    ten.select(struct(col("v").as("i")).as("s")).select(col("s.i").as("v")).as("o"),
    counted(twenty).distinct().where("count > 1").as("d"),
    "o.v.start = d.w.start"
  )(tenLater: _*)
  bounded(
    "session windows",
    ten,
    sessions,
    "d.w.end BETWEEN o.v.end AND o.v.end + INTERVAL '1' HOUR"
  )(
    ("d.w", "o.v", 0L),
    ("o.v", "d.w", 3600L)
  )
  bounded(
    "equal windows",
    ten,
    spark.table("di").select(window(col("dt"), "10 seconds").as("w")).as("d"),
    "o.v = d.w"
  )(("o.v", "d.w", 0L), ("d.w", "o.v", 0L))

  test("window ends give no bound if other event times bound the join") {
    val left = ten.withColumn("at", col("v.end")).as("o")
    val on = "o.at = d.dt AND o.v.start = d.w.start"
    assert(
      bounds(left.join(twenty, expr(on))) == Set(("o.at", "d.dt", 0L), ("d.dt", "o.at", 0L))
    )
  }

  private def refusalOf(left: DataFrame, right: DataFrame, on: String): String = {
    val e = intercept[AnalysisException](analyzed(left.join(right, expr(on), "left")))
    assert(e.getCondition == "STREAM_JOIN.UNBOUNDED_STATE")
    e.getMessage
  }

  test("the refusal of session window starts suggests their ends") {
    val message = refusalOf(ten, sessions, "o.v.start = d.w.start")
    assert(message.contains("o.v.end >= d.w.end - INTERVAL '1' HOUR"), message)
  }

  test("the refusal of starts of windows with several lengths suggests their ends") {
    val both = twenty.select("w").union(sliding.select("w"))
      .union(twenty.select(window(col("dt"), "5 seconds").as("w"))).as("d")
    assert(refusalOf(ten, both, "o.v.start = d.w.start").contains("d.w.end"))
    assert(bounds(ten.join(both, expr("o.v.end = d.w.end"))).size == 2)
  }

  test("the refusal suggests bounds between the ends of windows with different lengths") {
    val message = refusalOf(ten, twenty.drop("dt").as("d"), "o.id = d.id")
    assert(
      message.contains("o.v.end >= d.w.end - INTERVAL '1' HOUR AND d.w.end >= o.v.end"),
      message
    )
  }

  test("the refusal suggests an equality of windows with the same length") {
    val other = spark.table("di").select(window(col("dt"), "10 seconds").as("w"), col("id")).as("d")
    assert(refusalOf(ten, other, "o.id = d.id").contains("o.v = d.w"))
  }

  test("the refusal suggests bounds between the end of a window and a time") {
    val message = refusalOf(ten, spark.table("di").as("d"), "o.id = d.id")
    assert(message.contains("o.v.end >= d.dt - INTERVAL '1' HOUR AND d.dt >= o.v.end"), message)
  }

  test("a retention bounds windows by their ends") {
    withSQLConf(StreamJoinConf.Retention.key -> "1 minute") {
      assert(
        bounds(ten.join(twenty.drop("dt").as("d"), expr("o.id = d.id"), "left")) ==
          Set(("o.v", "d.w", 60L), ("d.w", "o.v", 60L))
      )
    }
  }
}
