package org.apache.spark.sql.streamjoin.physical

import scala.util.matching.Regex

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.SimpleMode
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}

import io.streamjoin.PythonApi

/** Changelog joins and the nodes of their physical plans. */
private[physical] trait PlannedChanges extends AnalysisSession {

  protected def changes(key: String*): DataFrame = declared("value AS id", key)

  protected def declared(id: String, key: Seq[String]): DataFrame = PythonCalls.fromChangelog(
    stream(id, "value % 3 AS k", "'insert' AS op"),
    java.util.List.of(key: _*),
    "op",
    java.util.Map.of(),
    null
  )

  protected def together(left: DataFrame, right: DataFrame, on: String, how: String): DataFrame =
    PythonApi.streamJoin(
      left.as("a"),
      right.as("b"),
      on,
      how,
      java.util.Map.of[String, Any]("mode", "changelog")
    )

  /** The matches in the lines of the plan, from the top. */
  protected def nodes(df: DataFrame, node: Regex): Seq[String] =
    // Spark looks for streams in the parsed plan
    session.sessionState.executePlan(planOf(df)).explainString(SimpleMode).linesIterator
      .flatMap(node.findFirstMatchIn(_)).map(_.group(1).replaceAll("#\\d+L?", "")).toSeq
}
