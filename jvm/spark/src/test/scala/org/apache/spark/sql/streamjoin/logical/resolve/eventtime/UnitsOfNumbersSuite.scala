package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls, StreamJoinConf}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.Watermarks.Unknown

/** Joins of two streams whose event times are numbers, in seconds and in milliseconds. */
class UnitsOfNumbersSuite extends AnalysisSession {

  private def numbers(alias: String, lag: Long): DataFrame =
    PythonCalls
      .imposeOrder(
        stream("value AS id", "value AS ts", "value AS seq"),
        "ts",
        java.util.Map.of("lag", Long.box(lag))
      )
      .as(alias)

  private val minute = "o.id = d.id AND d.ts BETWEEN o.ts * 1000 AND o.ts * 1000 + 60000"

  private def join(on: String, how: String = "inner"): DataFrame =
    numbers("o", 60).join(numbers("d", 60000), expr(on), how)

  private def ours(df: DataFrame): StreamJoin = in(planOf(df))

  private def in(plan: LogicalPlan): StreamJoin =
    plan.collectFirst { case j: StreamJoin => j }.get

  private def optimized(df: DataFrame): StreamJoin =
    in(session.sessionState.optimizer.execute(planOf(df).clone()))

  test("each output watermark is in the unit of its column") {
    for (how <- Seq("inner", "left", "full")) {
      val joined = join(minute, how)
      for (j <- Seq(ours(joined), optimized(joined))) {
        val out = j.analysis.output
        val marks = j.times.map(t => out.columns(t.exprId).eval(Array(500L, 300000L)))
        assert(marks == Seq(240, 300000), how)
        val later = j.times.map(t => out.columns(t.exprId).eval(Array(500L, 900000L)))
        assert(later == Seq(500, 500000), how)
        val unknown = j.times.map(t => out.columns(t.exprId).eval(Array(500L, Unknown)))
        assert(unknown == Seq(Unknown, Unknown), how)
      }
    }
  }

  test("the conversion of a watermark to another unit saturates on overflow") {
    val j = ours(join(minute))
    val most = Long.MaxValue / 10
    val out = j.times.map(t => j.analysis.output.columns(t.exprId).eval(Array(most, 300000L)))
    assert(out == Seq(240, 300000))
    assert(Saturated.multiply(most, 1000) == Long.MaxValue)
  }

  test("timestamp_seconds and timestamp_millis give the bounds of a factor of 1000") {
    val times = "timestamp_millis(d.ts) BETWEEN timestamp_seconds(o.ts) AND " +
      "timestamp_seconds(o.ts) + INTERVAL '1' MINUTE"
    def bounds(on: String) = ours(join(on)).analysis.bounds.conjuncts.toSet
    assert(bounds(s"o.id = d.id AND $times") == bounds(minute))
  }

  test("a join above can use the event time in either unit") {
    val above = numbers("x", 60)
    val chain = join(minute).select("o.id", "o.ts", "d.ts").toDF("id", "s", "ms").as("j")
    for (on <- Seq("x.ts BETWEEN j.s AND j.s + 5", "x.ts * 1000 BETWEEN j.ms AND j.ms + 5000"))
      assert(isOurs(planOf(chain.join(above, expr(s"j.id = x.id AND $on")))), on)
  }

  test("bounds in one unit exclude bounds between different units") {
    val j = ours(join("o.id = d.id AND d.ts BETWEEN o.ts AND o.ts + 9 AND d.ts <= 3 * o.ts"))
    assert(j.analysis.bounds.columns.forall(_.multipleOf.isEmpty))
  }

  private def refusalOf(on: String): String =
    intercept[AnalysisException](planOf(join(on, "left"))).getMessage

  test("the refusal suggests the missing bound in the units of the given one") {
    assert(refusalOf("o.id = d.id AND d.ts >= o.ts * 1000").contains("o.ts * 1000 >= d.ts - 100"))
    assert(refusalOf("o.id = d.id AND d.ts <= o.ts * 1000").contains("d.ts >= o.ts * 1000 - 100"))
    assert(refusalOf("o.id = d.id").contains("o.ts >= d.ts - 100 AND d.ts >= o.ts - 100"))
  }

  test("a retention adds the missing bound") {
    session.conf.set(StreamJoinConf.Retention.key, "5000")
    try {
      val j = ours(join("o.id = d.id AND d.ts >= o.ts * 1000", "left"))
      assert(j.analysis.bounds.conjuncts.map(_.slack).toSet == Set(0L, 5000L))
    } finally session.conf.unset(StreamJoinConf.Retention.key)
  }
}
