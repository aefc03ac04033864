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

  private def twins(df: DataFrame): Seq[(String, String)] =
    planOf(df).collectFirst { case i: StreamJoinInput => i }.get.columns.collect {
      case AnalyzedColumn(a: Attribute, _, _, Some(twin)) =>
        a.name -> twin.text
    }

  test("columns that share their names are told apart by their sources") {
    def above(columns: String*): DataFrame = {
      val below = joined(input("a", "1 AS v"), input("b", "2 AS v", "value AS w"), on("a", "b"))
      joined(below.selectExpr(columns: _*).alias("ab"), input("c"), on("c", "ab", "k"))
    }
    val key = Seq("a.id AS k", "a.t")
    assert(twins(above(key :+ "a.v": _*)).isEmpty)
    assert(twins(above(key ++ Seq("b.v", "a.v"): _*)) ==
      Seq("v" -> "v of source 2", "v" -> "v of source 1"))
    assert(twins(above(key ++ Seq("a.id + b.id AS s", "b.w AS S"): _*)) ==
      Seq("s" -> "value of source 1 and value of source 2", "S" -> "value of source 2"))
    assert(twins(above(key ++ Seq("b.w AS x", "b.id AS x"): _*)) ==
      Seq("x" -> "value of source 2", "x" -> "value of source 2, number 2"))
  }
}
