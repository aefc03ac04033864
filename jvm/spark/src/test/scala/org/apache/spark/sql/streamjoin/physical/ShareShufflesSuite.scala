package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.SimpleMode
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.StreamJoinConf.SharedShuffles

import io.streamjoin.PythonApi

/** Which inputs of joins go through a shuffle of the join's own. */
class ShareShufflesSuite extends AnalysisSession {

  private def events(columns: String*): DataFrame =
    ordered(stream(columns :+ "timestamp AS t": _*), "t")

  private val bounds = "b.t BETWEEN a.t AND a.t + INTERVAL '1' HOUR"

  private def shuffles(df: DataFrame): Seq[String] =
    session.sessionState.executePlan(planOf(df)).explainString(SimpleMode).linesIterator
      .flatMap(Node.findFirstMatchIn(_)).map(_.group(1)).toSeq

  private val Node = """[+:]- (ReusedExchange|(?:Join)?Exchange \w+)""".r
  private val Own = "JoinExchange hashpartitioning"

  test("those of a join by key, and of an as-of join") {
    val (a, b) = (events("value AS id").as("a"), events("value % 3 AS id").as("b"))
    assert(shuffles(joined(a, b, s"a.id = b.id AND $bounds", "left")) == Seq(Own, Own))
    val asOf = PythonApi.streamJoin(
      a,
      b,
      "a.id = b.id AND b.t <= a.t",
      "inner",
      java.util.Map.of("match", "last")
    )
    assert(shuffles(asOf) == Seq(Own, Own))
  }

  test("the one that a chain by one key still has") {
    val below = joined(
      events("value AS id").as("a"),
      events("value % 3 AS id").as("b"),
      s"a.id = b.id AND $bounds"
    ).selectExpr("a.id", "a.t").as("a")
    val chain = joined(below, events("value % 5 AS id").as("b"), s"a.id = b.id AND $bounds")
    assert(shuffles(chain) == Seq.fill(3)(Own))
  }

  test("not an input that all tasks read, and none where it is turned off") {
    val (a, b) = (events("value AS id").as("a"), events("value % 3 AS id").as("b"))
    session.conf.set("spark.sql.streamJoin.timeBuckets", "false")
    try {
      val copied = shuffles(joined(a, b, s"a.id < b.id AND $bounds"))
      assert(copied.toSet == Set(Own, "Exchange SinglePartition"))
    } finally session.conf.unset("spark.sql.streamJoin.timeBuckets")
    session.conf.set(SharedShuffles.key, "false")
    try {
      val plain = shuffles(joined(a, b, s"a.id = b.id AND $bounds"))
      assert(plain == Seq.fill(2)("Exchange hashpartitioning"))
    } finally session.conf.unset(SharedShuffles.key)
  }
}
