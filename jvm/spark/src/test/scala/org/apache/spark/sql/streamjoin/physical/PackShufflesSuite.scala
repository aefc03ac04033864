package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.SimpleMode
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.StreamJoinConf.PackedShuffles

import io.streamjoin.PythonApi

/** Which shuffles have rows in chunks. */
class PackShufflesSuite extends AnalysisSession {

  private def changes(key: String*): DataFrame = PythonApi.fromChangelog(
    stream("value AS id", "value % 3 AS k", "'insert' AS op"),
    java.util.List.of(key: _*),
    "op",
    java.util.Map.of(),
    null
  )

  private def together(left: DataFrame, right: DataFrame, on: String, how: String): DataFrame =
    PythonApi.streamJoin(
      left.as("a"),
      right.as("b"),
      on,
      how,
      java.util.Map.of[String, Any]("mode", "changelog")
    )

  /** What a plan does around its shuffles, from above. */
  private def shuffles(df: DataFrame): Seq[String] =
    // Spark looks for streams in what was parsed
    session.sessionState.executePlan(planOf(df)).explainString(SimpleMode).linesIterator
      .flatMap(Node.findFirstMatchIn(_)).map(_.group(1).replaceAll("#\\d+L?", "")).toSeq

  private val Node = """[+:]- ((?:Unpack|Pack)Rows|ReusedExchange|(?:Join)?Exchange \w+)""".r

  private val Packed = Seq("UnpackRows", "Exchange shufflepartitionidpassthrough", "PackRows")

  test("those of changes, also above and below the last image of each key") {
    assert(shuffles(together(changes("id"), changes("id"), "a.id = b.id", "left")) ==
      Seq.fill(2)(Packed).flatten)
    val moved = shuffles(together(changes("id"), changes("id"), "a.k = b.id", "left"))
    assert(moved == Seq.fill(4)(Packed).flatten, moved)
  }

  test("what all tasks read goes row by row, and so do events") {
    val copied = shuffles(together(changes(), changes(), "a.id < b.id", "inner"))
    assert(copied == Packed :+ "Exchange SinglePartition", copied)
    def events = PythonApi.imposeOrder(
      stream("value AS id", "timestamp AS t"),
      "t",
      java.util.Map.of[String, Any]("lag", "1 minute")
    )
    val bounds = "a.id = b.id AND b.t BETWEEN a.t AND a.t + INTERVAL '1' HOUR"
    val timed = shuffles(
      PythonApi.streamJoin(events.as("a"), events.as("b"), bounds, "inner", java.util.Map.of())
    )
    assert(timed == Seq.fill(2)("JoinExchange hashpartitioning"))
  }

  test("none where they are turned off") {
    session.conf.set(PackedShuffles.key, "false")
    try {
      val plain = shuffles(together(changes("id"), changes("id"), "a.id = b.id", "left"))
      assert(plain == Seq.fill(2)("Exchange hashpartitioning"))
    } finally session.conf.unset(PackedShuffles.key)
  }
}
