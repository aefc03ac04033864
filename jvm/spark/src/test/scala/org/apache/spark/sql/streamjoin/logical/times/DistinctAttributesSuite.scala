package org.apache.spark.sql.streamjoin.logical.times

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, Union}
import org.apache.spark.sql.functions.{count, lit, window}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.nodes.JoinNode

import io.streamjoin.PythonApi

/** Both inputs of a join keep columns of their own if they read the same DataFrame. */
class DistinctAttributesSuite extends AnalysisSession {

  private val within = "x.value = y.value AND " +
    "y.timestamp BETWEEN x.timestamp AND x.timestamp + INTERVAL '1' MINUTE"

  private def timed(df: DataFrame, alias: String): DataFrame = ordered(df, "timestamp").alias(alias)

  /** The join in a batch in which a source has no rows. */
  private def optimized(joined: DataFrame, without: DataFrame): JoinNode = {
    val source = planOf(without).collectLeaves().head
    val batch = planOf(joined).transform {
      case leaf if leaf == source => LocalRelation(leaf.output, Nil, isStreaming = true)
    }
    session.sessionState.optimizer.execute(batch).collectFirst { case j: JoinNode => j }.get
  }

  private def requireDistinct(joined: DataFrame, without: DataFrame): Unit = {
    val join = optimized(joined, without)
    assert(!join.exists(_.isInstanceOf[Union]), join)
    assert(join.left.outputSet.intersect(join.right.outputSet).isEmpty, join)
    assert(join.resolved, join)
  }

  private val branches: Seq[(String, DataFrame => DataFrame)] = Seq(
    "the DataFrame" -> identity,
    "a filter" -> (_.where("value > 5")),
    "an alias" -> (_.selectExpr("timestamp", "value AS value")),
    "two aliases" -> (_.selectExpr("timestamp", "value AS v").selectExpr("timestamp", "v AS value"))
  )

  for ((name, branch) <- branches) test(s"a union with $name of the other input") {
    val (a, b) = (stream("*"), stream("*"))
    val (union, other) = (timed(a.union(branch(b)), "x"), timed(b, "y"))
    requireDistinct(joined(union, other, within, "full"), without = a)
    requireDistinct(joined(other, union, within, "full"), without = a)
  }

  test("an expression that is simplified to a column of the other input") {
    val b = stream("*")
    val fields = b.selectExpr("struct(value, timestamp) AS s").selectExpr("s.value", "s.timestamp")
    val first = b.selectExpr("timestamp", "coalesce(value, 0L) AS value")
    for (other <- Seq(fields, first)) {
      val join = optimized(joined(timed(other, "x"), timed(b, "y"), within), without = stream("*"))
      assert(join.resolved, join)
    }
  }

  test("a renamed column by which rows are grouped") {
    val b = stream("*").withWatermark("timestamp", "1 minute")
    val counts = b.groupBy(b("value").as("value"), window(b("timestamp"), "1 minute").as("w"))
      .agg(count(lit(1)).as("n")).selectExpr("value", "w.end AS timestamp", "n")
    val join =
      optimized(joined(counts.alias("x"), b.alias("y"), within), without = stream("*"))
    assert(join.resolved, join)
  }

  test("the times of a branch are those of its input") {
    val (a, b) = (ordered(stream("*"), "timestamp"), ordered(stream("*"), "timestamp"))
    val join = optimized(joined(a.union(b).alias("x"), b.alias("y"), within), without = a)
    assert(TimeColumns.watermarked(join.left).map(_.name) == Seq("timestamp"))
  }

  test("changelogs and as-of joins keep columns of their own, too") {
    val (a, b) = (stream("*"), stream("*"))
    val changes = java.util.Map.of[String, Any]("mode", "changelog")
    val (union, other) = (a.union(b).alias("x"), b.alias("y"))
    val changelog = PythonApi.streamJoin(union, other, "x.value = y.value", "left", changes)
    requireDistinct(changelog, without = a)
    val last = java.util.Map.of[String, Any]("match", "last")
    val (left, right) = (timed(a.union(b), "x"), timed(b, "y"))
    requireDistinct(PythonApi.streamJoin(left, right, "x.value = y.value", "left", last), a)
  }
}
