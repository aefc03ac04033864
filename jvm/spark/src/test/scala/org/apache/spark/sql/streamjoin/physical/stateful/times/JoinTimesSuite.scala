package org.apache.spark.sql.streamjoin.physical.stateful.times

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin

import io.streamjoin.model.Watermarks

/** The names and watermarks of the event times of a join, as reports have them. */
class JoinTimesSuite extends AnalysisSession {

  private def input(time: String, alias: String, options: (String, Any)*): DataFrame =
    imposed(s"timestamp AS $time", time, alias, ("lag" -> "1 minute") +: options)

  private def imposed(
      column: String,
      name: String,
      alias: String,
      options: Seq[(String, Any)]
  ): DataFrame =
    PythonCalls.imposeOrder(
      stream("value AS id", "value % 3 AS p", column),
      name,
      options.toMap.asJava
    ).as(alias)

  private def times(left: DataFrame, right: DataFrame, on: String): JoinTimes =
    JoinTimes.of(
      planOf(joined(left, right, s"a.id = b.id AND $on")).collectFirst { case j: StreamJoin =>
        j
      }.get.analysis
    )

  test("two times of one name have the names of their inputs in front") {
    val (o, d) = (input("o", "a"), input("d", "b"))
    assert(times(o, d, "b.d BETWEEN a.o AND a.o + INTERVAL 1 HOUR").names == Seq(
      "o" -> 0,
      "d" -> 1
    ))
    val (a, b) = (input("t", "a"), input("t", "b"))
    assert(times(a, b, "b.t BETWEEN a.t AND a.t + INTERVAL 1 HOUR").names ==
      Seq("a.t" -> 0, "b.t" -> 1))
  }

  test("a known watermark is reported in milliseconds, with its delay to the time of the batch") {
    val found = times(input("o", "a"), input("d", "b"), "b.d BETWEEN a.o AND a.o + INTERVAL 1 HOUR")
    val received = Array(5000000L, Watermarks.Unknown)
    assert(found.shown(received, Some(65000L)) == Map("watermark.o" -> 5000L, "delay.o" -> 60000L))
    assert(found.shown(received, None) == Map("watermark.o" -> 5000L))
  }

  test("a number has no delay") {
    def numbers(name: String, alias: String) =
      imposed(s"value AS $name", name, alias, Seq("lag" -> 5))
    val found = times(numbers("n", "a"), numbers("m", "b"), "b.m BETWEEN a.n AND a.n + 10")
    assert(found.shown(Array(7L, 8L), Some(1000L)) == Map("watermark.n" -> 7L, "watermark.m" -> 8L))
  }

  test("a column with groups has a lag, by which its disorder is not compared") {
    val found = times(
      input("o", "a", "per" -> "p"),
      input("d", "b"),
      "b.d BETWEEN a.o AND a.o + INTERVAL 1 HOUR"
    )
    assert(found.lags == Map(0 -> 60000000L, 1 -> 60000000L))
    assert(found.lagsOfDisorder == Map(1 -> 60000000L))
  }
}
