package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin
import org.apache.spark.sql.streamjoin.physical.stateful.shown.Explanation

import io.streamjoin.PythonApi

/** The explanation of a join, also if it is requested repeatedly. */
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

  private def explanation(df: DataFrame): Explanation =
    planOf(df).collectFirst { case j: StreamJoin =>
      JoinExplanation.of(j.analysis, j.late.map(_.column))
    }.get

  test("the explanation of a join is the same each time") {
    val df = join("a", "b")
    assert(explanation(df) == explanation(df))
  }

  test("joins with other names, lags or intervals have different explanations") {
    val some = Seq(
      join("a", "b"),
      join("c", "d"),
      join("a", "b", hours = 2),
      join("a", "b", lag = "2 minutes")
    )
    for (_ <- 1 to 2) assert(some.map(explanation(_).lines).distinct.length == some.length)
    assert(explanation(some(1)).summary.contains("d_time") && !explanation(
      some(1)
    ).summary.contains("b_time"))
    assert(explanation(some(2)).summary.contains("2 hours"))
  }

  test("emitting late rows adds lines to the explanation") {
    val plain = explanation(join("a", "b")).lines
    val late = explanation(join("a", "b", options = java.util.Map.of("late", "emit"))).lines
    assert(plain.nonEmpty && late.startsWith(plain) && late.length > plain.length, late)
  }
}
