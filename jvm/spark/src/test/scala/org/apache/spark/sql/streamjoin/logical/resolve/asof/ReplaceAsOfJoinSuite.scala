package org.apache.spark.sql.streamjoin.logical.resolve.asof

import org.apache.spark.sql.{classic, DataFrame}
import org.apache.spark.sql.catalyst.expressions.{Attribute, EqualTo}
import org.apache.spark.sql.catalyst.plans.{Backward, Forward, Inner, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical.{AsOfJoin => SparkAsOfJoin, LogicalPlan}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.nodes.AsOfJoin

import io.streamjoin.model.JoinType

/** Spark 4.3 parses `ASOF JOIN` to this node, which earlier versions have, too. */
class ReplaceAsOfJoinSuite extends AnalysisSession {

  private lazy val trades = ordered(stream("value AS k", "timestamp AS traded"), "traded")
  private lazy val quotes = ordered(stream("value AS symbol", "timestamp AS quoted"), "quoted")

  private def column(df: DataFrame, name: String): Attribute =
    planOf(df).output.find(_.name == name).get

  private def asOf(
      right: DataFrame,
      time: String,
      key: String,
      outer: Boolean = false,
      backward: Boolean = true,
      exact: Boolean = true
  ): LogicalPlan = {
    val node = SparkAsOfJoin(
      planOf(trades),
      planOf(right),
      column(trades, "traded"),
      column(right, time),
      Some(EqualTo(column(trades, "k"), column(right, key))),
      if (outer) LeftOuter else Inner,
      None,
      exact,
      if (backward) Backward else Forward
    )
    planOf(classic.Dataset.ofRows(session, node))
  }

  private def ours(plan: LogicalPlan): AsOfJoin = plan.collectFirst { case j: AsOfJoin => j }.get

  test("the join of two streams is this project's") {
    val join = ours(asOf(quotes, "quoted", "symbol"))
    assert(join.times.map(_.name) == Seq("traded", "quoted"))
    assert((join.joinType, join.bounds.reach) == ((JoinType.Inner, 0)))
    assert(join.equiKeys.length == 1)
    assert(ours(asOf(quotes, "quoted", "symbol", outer = true)).joinType == JoinType.LeftOuter)
    assert(ours(asOf(quotes, "quoted", "symbol", exact = false)).bounds.reach == -1)
  }

  test("the first row after is refused") {
    val refused = refusal(asOf(quotes, "quoted", "symbol", backward = false))
    assert(refused.getCondition == "STREAM_JOIN.UNSUPPORTED_AS_OF")
    assert(refused.getMessage.contains("Write "))
  }

  test("a changelog is refused: its row kind would be a column of the result") {
    stream("value AS symbol", "timestamp AS quoted", "'insert' AS _change_type")
      .createOrReplaceTempView("changes")
    val rates = ordered(
      session.sql("SELECT * FROM FROM_CHANGELOG(TABLE(changes), key => DESCRIPTOR(symbol))"),
      "quoted"
    )
    val refused = refusal(asOf(rates, "quoted", "symbol"))
    assert(refused.getMessage.contains("SELECT /*+ STREAM_JOIN */"))
  }

  test("the join with a table is Spark's") {
    val table = session.range(1).selectExpr("id AS symbol", "now() AS quoted")
    val plan = asOf(table, "quoted", "symbol")
    assert(plan.exists(_.isInstanceOf[SparkAsOfJoin]) && !plan.exists(_.isInstanceOf[AsOfJoin]))
  }
}
