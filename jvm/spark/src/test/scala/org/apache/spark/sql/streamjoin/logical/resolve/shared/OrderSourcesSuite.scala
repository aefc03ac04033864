package org.apache.spark.sql.streamjoin.logical.resolve.shared

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streamjoin.AnalysisSession

/** Which sources of an input the rows of each imposed order are from. */
class OrderSourcesSuite extends AnalysisSession {

  private lazy val rows = stream("value AS id", "timestamp AS t")

  private def sources(input: DataFrame): Seq[Set[Int]] =
    OrderSources.of(planOf(input)).map(_.sources)

  test("an order above a union has the sources of all branches") {
    assert(sources(ordered(rows.union(rows), "t")) == Seq(Set(0, 1)))
    assert(sources(ordered(rows, "t").union(ordered(rows.union(rows), "t"))) ==
      Seq(Set(0), Set(1, 2)))
  }

  test("an order above others comes behind them") {
    val branches = rows.union(ordered(rows, "t"))
    assert(sources(ordered(branches, "t")) == Seq(Set(1), Set(0, 1)))
  }

  test("an order above a join has the sources of both inputs") {
    val below = joined(
      ordered(rows, "t").alias("a"),
      ordered(rows, "t").alias("b"),
      "a.id = b.id AND b.t BETWEEN a.t AND a.t + INTERVAL '1' MINUTE"
    )
    assert(sources(ordered(below.selectExpr("a.id", "a.t"), "t")) == Seq(Set(0), Set(1), Set(0, 1)))
  }
}
