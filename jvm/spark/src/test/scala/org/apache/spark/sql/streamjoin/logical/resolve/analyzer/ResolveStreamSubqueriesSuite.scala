package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.streamjoin.logical.StreamsInSql
import org.apache.spark.sql.streamjoin.logical.StreamsInSql._
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoin

/** EXISTS and IN over streams, as the joins that they are. */
class ResolveStreamSubqueriesSuite extends StreamsInSql {

  private def exists(o: String, d: String, where: String) =
    s"SELECT o.id FROM $o o WHERE EXISTS (SELECT 1 FROM $d d WHERE $where)"

  private val bounded = s"${meets("o", "d")} AND ${near("o", "d")}"

  test("with orders") {
    assert(joins(exists("oi", "di", bounded)) == "ours(dt-ot)")
    assert(refusal(exists("oi", "di", meets("o", "d"))) == "UNSUPPORTED_SUBQUERY")
    val half = s"${meets("o", "d")} AND d.dt >= o.ot"
    assert(refusal(exists("oi", "di", half)) == "UNBOUNDED_STATE")
  }

  test("in the place of Spark's") {
    replacing {
      assert(joins(exists("o", "d", bounded)) == "ours(dt-ot)")
      assert(joins(exists("o", "d", bounded).replace("EXISTS", "NOT EXISTS")) == "ours(dt-ot)")
      assert(joins("SELECT id FROM o WHERE (k, ot) IN (SELECT k, dt FROM d)") == "ours(dt-ot)")
      // as a condition above a join
      val chain = s"SELECT o.id FROM o JOIN d ON ${meets("o", "d")} WHERE ${near("o", "d")} AND " +
        s"EXISTS (SELECT 1 FROM x WHERE ${meets("d", "x")} AND ${near("d", "x")})"
      assert(joins(chain) == "ours(dt-xt ours(dt-ot))")
    }
  }

  test("of a stream that is among those of FROM, with all bounds in WHERE") {
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

  test("columns of one stream on both sides keep their names, which the checkpoint knows") {
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

  test("what bounds nothing is refused with the line that is missing") {
    replacing {
      assert(refusal(exists("o", "d", meets("o", "d"))) == "UNSUPPORTED_SUBQUERY")
      assert(refusal(exists("o", "d", s"${meets("o", "d")} AND d.dt >= o.ot")) == "UNBOUNDED_STATE")
      assert(refusal("SELECT id FROM o WHERE k IN (SELECT k FROM d)") == "UNSUPPORTED_SUBQUERY")
    }
  }

  test("without either they are Spark's to refuse") {
    val condition = refusal(exists("o", "d", bounded))
    assert(condition == "INVALID_SUBQUERY_EXPRESSION.STREAMING_QUERY")
  }
}
