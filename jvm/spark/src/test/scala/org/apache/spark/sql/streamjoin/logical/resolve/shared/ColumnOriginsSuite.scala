package org.apache.spark.sql.streamjoin.logical.resolve.shared

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{AnalyzedColumn, StreamJoinInput}

/** From which columns of which sources the columns of an input are. */
class ColumnOriginsSuite extends AnalysisSession {

  private def input(n: String, columns: String*): DataFrame =
    ordered(stream("value AS id" +: "timestamp AS t" +: columns: _*), "t").alias(n)

  private def on(l: String, r: String, id: String = "id") =
    s"$l.id = $r.$id AND $r.t BETWEEN $l.t AND $l.t + INTERVAL '1' MINUTE"

  /** The columns of the topmost input, each with its origin. */
  private def origins(df: DataFrame): Seq[(String, String)] =
    planOf(df).collectFirst { case i: StreamJoinInput => i }.get.columns.collect {
      case AnalyzedColumn(a: Attribute, _, _, origin) => a.name -> origin.text
    }

  /** Those of a join of the columns with another stream. */
  private def above(below: DataFrame, columns: String*): Seq[(String, String)] =
    origins(joined(below.selectExpr(columns: _*).alias("ab"), input("c"), on("c", "ab", "k")))
      .filterNot(c => Seq("k", "t").contains(c._1))

  private lazy val key = Seq("a.id AS k", "a.t")

  test("columns are told apart by their sources, also those that share no name") {
    val below = joined(input("a", "1 AS v"), input("b", "2 AS v", "value AS w"), on("a", "b"))
    def of(columns: String*) = above(below, key ++ columns: _*)
    assert(of("a.v") == Seq("v" -> "source 1"))
    assert(of("b.v", "a.v") == Seq("v" -> "source 2", "v" -> "source 1"))
    assert(of("a.id + b.id AS s", "b.w AS S") ==
      Seq("s" -> "source 1 and source 2", "S" -> "source 2"))
    assert(of("b.w AS x", "b.id AS x") == Seq("x" -> "source 2", "x" -> "source 2, number 2"))
  }

  test("two readers of one stream are two sources") {
    val one = input("a")
    val below = joined(one, one.alias("b"), on("a", "b"))
    assert(above(below, key ++ Seq("a.id AS x", "b.id AS y"): _*) ==
      Seq("x" -> "source 1", "y" -> "source 2"))
  }

  test("a column of a union is of its first branch, and the next input is counted behind both") {
    val (a, other) = (stream("value AS id", "timestamp AS t"), stream("1L AS id", "timestamp AS t"))
    val below = joined(ordered(a.union(other), "t").alias("a"), input("b"), on("a", "b"))
    assert(above(below, key ++ Seq("a.id AS x", "b.id AS y"): _*) ==
      Seq("x" -> "source 1", "y" -> "source 3"))
    val both = a.union(other)
    val origins = ColumnOrigins.of(both.queryExecution.analyzed).values
    assert(origins.forall(o => o.sources == Set(0) && o.all == Set(0, 1)))
  }
}
