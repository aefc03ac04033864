package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.streamjoin.logical.StreamsInSql
import org.apache.spark.sql.streamjoin.logical.StreamsInSql._
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin

/** EXISTS and IN over streams are planned as semi and anti joins. */
class ResolveStreamSubqueriesSuite extends StreamsInSql {

  private def exists(o: String, d: String, where: String) =
    s"SELECT o.id FROM $o o WHERE EXISTS (SELECT 1 FROM $d d WHERE $where)"

  private val bounded = s"${meets("o", "d")} AND ${near("o", "d")}"

  test("EXISTS over watermarked streams is a stream join") {
    assert(joins(exists("oi", "di", bounded)) == "ours(dt-ot)")
  }

  test("EXISTS, NOT EXISTS and IN are stream joins with replaceBuiltin") {
    replacing {
      assert(joins(exists("o", "d", bounded)) == "ours(dt-ot)")
      assert(joins(exists("o", "d", bounded).replace("EXISTS", "NOT EXISTS")) == "ours(dt-ot)")
      assert(joins("SELECT id FROM o WHERE (k, ot) IN (SELECT k, dt FROM d)") == "ours(dt-ot)")
      // a conjunct of WHERE above a join
      val chain = s"SELECT o.id FROM o JOIN d ON ${meets("o", "d")} WHERE ${near("o", "d")} AND " +
        s"EXISTS (SELECT 1 FROM x WHERE ${meets("d", "x")} AND ${near("d", "x")})"
      assert(joins(chain) == "ours(dt-xt ours(dt-ot))")
    }
  }

  test("EXISTS over a stream that FROM reads too is a join above those of FROM") {
    replacing {
      for (from <- Seq("0", "3")) {
        val again = s"e.k = d.k AND e.id <> d.id AND e.dt BETWEEN d.dt - INTERVAL $from SECONDS " +
          "AND d.dt + INTERVAL 4 SECONDS"
        val text =
          s"SELECT o.id FROM o, d, x WHERE ${meets("o", "d")} AND ${meets("o", "x")} AND " +
            s"${near("o", "d")} AND ${near("o", "x")} AND EXISTS (SELECT 1 FROM d e WHERE $again)"
        assert(joins(text) == "ours(dt ours(ot-xt ours(dt-ot)))", text)
      }
    }
  }

  test("EXISTS over the same stream keeps the column names of both sides") {
    // checkpoints contain these names
    val texts = Seq(exists(
      "oi",
      "oi",
      s"o.k <=> d.k AND d.ot BETWEEN o.ot AND o.ot + INTERVAL 4 SECONDS"
    )) ++
      Seq("", "NOT ").map { not =>
        s"SELECT id FROM oi WHERE ${not}EXISTS (SELECT 1 FROM (SELECT k, ot FROM oi WHERE id > 3) e " +
          "WHERE oi.k = e.k AND e.ot BETWEEN oi.ot AND oi.ot + INTERVAL 4 SECONDS)"
      }
    for (text <- texts) {
      val named = optimized(spark.sql(text)).collect { case j: StreamJoin =>
        (j.condition.references.map(_.name).toSet, j.analysis.equiKeys.map(_.right.sql))
      }
      assert(named == Seq((Set("k", "ot"), Seq("k"))), text)
    }
  }

  /** Expects the refusal of a query with texts in its message. */
  private def refused(query: String, condition: String, says: String*): Unit = {
    val e = intercept[AnalysisException](spark.sql(query))
    assert(e.getCondition == s"STREAM_JOIN.$condition")
    says.foreach(text => assert(e.getMessage.contains(text), e.getMessage))
  }

  test("the refusal of EXISTS and IN without complete bounds gives the missing condition") {
    val unbounded = Seq(
      "does not bound the distance between its event time and the event time of the outer row",
      "d.time BETWEEN o.time AND o.time + INTERVAL '1' HOUR"
    )
    def check(o: String, d: String): Unit = {
      refused(exists(o, d, meets("o", "d")), "UNSUPPORTED_SUBQUERY", unbounded: _*)
      refused(
        exists(o, d, s"${meets("o", "d")} AND d.dt >= o.ot"),
        "UNBOUNDED_STATE",
        "Add the missing inequality",
        "for example o.ot >= d.dt - INTERVAL '1' HOUR"
      )
      refused(
        s"SELECT id FROM $o WHERE k IN (SELECT k FROM $d)",
        "UNSUPPORTED_SUBQUERY",
        unbounded: _*
      )
    }
    check("oi", "di")
    replacing(check("o", "d"))
  }

  test("Spark refuses EXISTS without an imposed order and without replaceBuiltin") {
    val condition = refusal(exists("o", "d", bounded))
    assert(condition == "INVALID_SUBQUERY_EXPRESSION.STREAMING_QUERY")
  }
}
