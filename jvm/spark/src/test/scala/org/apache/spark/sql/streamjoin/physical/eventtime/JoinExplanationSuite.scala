package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoin

import io.streamjoin.PythonApi

/** What is said of a join is of that join, however often it is asked. */
class JoinExplanationSuite extends AnalysisSession {

  private def join(
      left: String,
      right: String,
      hours: Int = 1,
      lag: String = "1 minute",
      options: java.util.Map[String, Any] = java.util.Map.of()
  ): DataFrame = {
    def input(name: String) =
      ordered(stream("value AS id", s"timestamp AS ${name}_time"), s"${name}_time", lag).as(name)
    PythonApi.streamJoin(
      input(left),
      input(right),
      s"$left.id = $right.id AND ${right}_time BETWEEN ${left}_time " +
        s"AND ${left}_time + INTERVAL '$hours' HOUR",
      "left",
      options
    )
  }

  private def said(df: DataFrame): ExplainedJoin =
    planOf(df).collectFirst { case j: StreamJoin =>
      JoinExplanation.of(j.analysis, j.late.map(_.column))
    }.get

  test("of one join it is the same each time") {
    val df = join("a", "b")
    assert(said(df) == said(df))
  }

  test("joins of the same bounds and other names, lags or spans are told apart") {
    val some = Seq(
      join("a", "b"),
      join("c", "d"),
      join("a", "b", hours = 2),
      join("a", "b", lag = "2 minutes")
    )
    for (_ <- 1 to 2) assert(some.map(said(_).lines).distinct.length == some.length)
    assert(said(some(1)).summary.contains("d_time") && !said(some(1)).summary.contains("b_time"))
    assert(said(some(2)).summary.contains("2 hours"))
  }

  test("with and without late rows") {
    val plain = said(join("a", "b")).lines
    val late = said(join("a", "b", options = java.util.Map.of("late", "emit"))).lines
    assert(plain.nonEmpty && late.startsWith(plain) && late.length > plain.length, late)
  }
}
