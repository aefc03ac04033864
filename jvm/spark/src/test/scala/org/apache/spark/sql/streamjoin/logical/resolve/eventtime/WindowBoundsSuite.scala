package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import org.apache.spark.sql.{classic, AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streamjoin.logical.StreamsInSql
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoin
import org.apache.spark.sql.streamjoin.StreamJoinConf

/** Ends and starts of windows in conditions, as event times. */
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

  /** Between the event times of a join, `later >= earlier - seconds`, as it is analysed and as it runs. */
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

  bounded("ends", ten, twenty, "o.v.end = d.w.end - INTERVAL '10' SECOND")(tenLater: _*)
  bounded(
    "ends, the other way",
    ten,
    twenty,
    "d.w.end - INTERVAL '10' SECOND = o.v.end"
  )(tenLater: _*)
  bounded("starts", ten, twenty, "o.v.start = d.w.start")(tenLater: _*)
  bounded(
    "a start and an end",
    ten,
    twenty,
    "o.v.end = d.w.start + INTERVAL '10' SECOND"
  )(tenLater: _*)
  bounded(
    "windows in windows",
    ten,
    twenty,
    "o.v.start >= d.w.start AND o.v.end <= d.w.end"
  )(("o.v", "d.w", 10L), ("d.w", "o.v", 0L))
  bounded("sliding windows", ten, sliding, "o.v.start = d.w.start")(tenLater: _*)
  bounded("times in windows", ten, twenty, "d.dt >= o.v.start AND d.dt < o.v.end")(
    ("d.dt", "o.v", 10L),
    ("o.v", "d.dt", 0L)
  )
  bounded("the windows of an aggregation", ten, counted(twenty).as("d"), "o.v.start = d.w.start")(
    tenLater: _*
  )
  bounded(
    "aggregations of both",
    ten.groupBy("v").count().as("o"),
    counted(sliding).as("d"),
    "o.v.start = d.w.start"
  )(tenLater: _*)
  bounded(
    "windows that have passed a projection",
    ten.select(struct(col("v").as("i")).as("s")).select(col("s.i").as("v")).as("o"),
    counted(twenty).distinct().where("count > 1").as("d"),
    "o.v.start = d.w.start"
  )(tenLater: _*)
  bounded("sessions", ten, sessions, "d.w.end BETWEEN o.v.end AND o.v.end + INTERVAL '1' HOUR")(
    ("d.w", "o.v", 0L),
    ("o.v", "d.w", 3600L)
  )
  bounded(
    "equal windows",
    ten,
    spark.table("di").select(window(col("dt"), "10 seconds").as("w")).as("d"),
    "o.v = d.w"
  )(("o.v", "d.w", 0L), ("d.w", "o.v", 0L))

  test("ends bound nothing beside what bounds the join without them") {
    val left = ten.withColumn("at", col("v.end")).as("o")
    val on = "o.at = d.dt AND o.v.start = d.w.start"
    assert(bounds(left.join(twenty, expr(on))).forall(b => Set("o.at", "d.dt")(b._1)))
  }

  private def refusalOf(left: DataFrame, right: DataFrame, on: String): String = {
    val e = intercept[AnalysisException](analyzed(left.join(right, expr(on), "left")))
    assert(e.getCondition == "STREAM_JOIN.UNBOUNDED_STATE")
    e.getMessage
  }

  test("the start of a session is at no constant distance from its end") {
    val said = refusalOf(ten, sessions, "o.v.start = d.w.start")
    assert(said.contains("o.v.end >= d.w.end - INTERVAL '1' HOUR"), said)
  }

  test("nor is that of windows of several lengths") {
    val both = twenty.select("w").union(sliding.select("w"))
      .union(twenty.select(window(col("dt"), "5 seconds").as("w"))).as("d")
    assert(refusalOf(ten, both, "o.v.start = d.w.start").contains("d.w.end"))
    assert(bounds(ten.join(both, expr("o.v.end = d.w.end"))).size == 2)
  }

  test("what is missing between windows of different lengths is said of their ends") {
    val said = refusalOf(ten, twenty.drop("dt").as("d"), "o.id = d.id")
    assert(said.contains("o.v.end >= d.w.end - INTERVAL '1' HOUR AND d.w.end >= o.v.end"), said)
  }

  test("and between windows of one length of the windows") {
    val other = spark.table("di").select(window(col("dt"), "10 seconds").as("w"), col("id")).as("d")
    assert(refusalOf(ten, other, "o.id = d.id").contains("o.v = d.w"))
  }

  test("between a window and a time, too") {
    val said = refusalOf(ten, spark.table("di").as("d"), "o.id = d.id")
    assert(said.contains("o.v.end >= d.dt - INTERVAL '1' HOUR AND d.dt >= o.v.end"), said)
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
