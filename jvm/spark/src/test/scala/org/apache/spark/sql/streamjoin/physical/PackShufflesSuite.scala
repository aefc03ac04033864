package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streamjoin.StreamJoinConf.PackedShuffles

import io.streamjoin.PythonApi

/** Which shuffles have rows in chunks. */
class PackShufflesSuite extends PlannedChanges {

  /** What a plan does around its shuffles, from above. */
  private def shuffles(df: DataFrame): Seq[String] = nodes(df, Node)

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
