package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import org.apache.spark.sql.streamjoin.logical.StreamsInSql
import org.apache.spark.sql.streamjoin.logical.StreamsInSql._

/** A query with an imposed order never runs an unbounded join of Spark below or above it. */
class OrdersBesideSparksJoinsSuite extends StreamsInSql {

  private def counted(columns: String, stream: String, by: String) =
    s"(SELECT $columns, count(*) AS n FROM $stream GROUP BY $by)"

  private def windowed(part: String, stream: String) =
    counted(s"window.$part AS wt", s"${stream}i", s"window(${stream}t, '4 seconds')")

  private val window = "window(ot, '4 seconds')"

  test("a join above an aggregation that emits no event time is refused") {
    for {
      how <- Seq("JOIN", "LEFT JOIN")
      (columns, by) <- Seq("k" -> "k", "k" -> s"k, $window")
    } {
      val left = counted(columns, "oi", by)
      assert(refusal(s"SELECT * FROM $left l $how di d ON l.k = d.k") == "MISSING_WATERMARK")
    }
  }

  test("a join on the window ends of two aggregations is a stream join") {
    for (how <- Seq("JOIN", "LEFT JOIN")) {
      val (l, r) = (windowed("end", "o"), windowed("end", "d"))
      assert(joins(s"SELECT l.n FROM $l l $how $r r ON l.wt = r.wt") == "ours(wt)")
    }
  }

  test("a join on the window starts of two aggregations is refused") {
    val (l, r) = (windowed("start", "o"), windowed("start", "d"))
    assert(refusal(s"SELECT l.n FROM $l l JOIN $r r ON l.wt = r.wt") == "MISSING_WATERMARK")
  }

  test("an order above a join of Spark is refused unless the join is bounded") {
    def over(on: String, where: String = "") =
      s"SELECT ot FROM IMPOSE_ORDER(TABLE(SELECT o.ot FROM o JOIN d ON $on $where), " +
        "DESCRIPTOR(ot), INTERVAL '1' MINUTE)"
    assert(refusal(over(meets("o", "d"))) == "UNBOUNDED_STATE")
    val bounded = s"${meets("o", "d")} AND ${near("o", "d")}"
    assert(joins(over(bounded)) == "sparks(dt-ot)")
    assert(joins(over(meets("o", "d"), s"WHERE ${near("o", "d")}")) == "sparks(dt-ot)")
  }

  test("an order above an aggregated join of Spark is refused unless the join is bounded") {
    def over(on: String) =
      s"SELECT w FROM IMPOSE_ORDER(TABLE(SELECT window.end AS w, count(*) AS n FROM o JOIN d ON $on " +
        "GROUP BY window(ot, '4 seconds')), DESCRIPTOR(w), INTERVAL '1' MINUTE)"
    assert(refusal(over(meets("o", "d"))) == "UNBOUNDED_STATE")
    assert(joins(over(s"${meets("o", "d")} AND ${near("o", "d")}")) == "sparks(dt-ot)")
  }

  test("a stream join above a join of Spark is refused unless the lower one is bounded") {
    def over(on: String, where: String = "") =
      s"SELECT o.id FROM o JOIN d ON $on JOIN xi x ON ${meets("d", "x")} AND ${near("d", "x")} $where"
    assert(refusal(over(meets("o", "d"))) == "UNBOUNDED_STATE")
    val bounded = s"${meets("o", "d")} AND ${near("o", "d")}"
    assert(joins(over(bounded)) == "ours(dt-xt sparks(dt-ot))")
    assert(joins(over(meets("o", "d"), s"WHERE ${near("o", "d")}")) == "ours(dt-xt sparks(dt-ot))")
  }

  test("a lower join whose bounds Spark does not derive becomes a stream join") {
    // the bound depends on the row
    val lower =
      s"${meets("o", "d")} AND d.dt BETWEEN o.ot AND least(o.ot + INTERVAL 4 SECONDS, o.ot)"
    val query =
      s"SELECT o.id FROM o JOIN d ON $lower JOIN xi x ON ${meets("d", "x")} AND ${near("d", "x")}"
    assert(joins(query) == "ours(dt-xt ours(dt-ot))")
  }

  test("DISTINCT ends the watermark of a number") {
    val numbers = "IMPOSE_ORDER(TABLE(oi), DESCRIPTOR(id), 10)"
    val query = s"SELECT a.k FROM (SELECT DISTINCT id, k FROM $numbers) a JOIN $numbers b " +
      "ON a.k = b.k AND a.id BETWEEN b.id AND b.id + 5"
    assert(refusal(query) == "MISSING_WATERMARK")
  }

  test("DISTINCT passes a time that has Spark's watermark") {
    val distinct = "(SELECT DISTINCT id, ot FROM oi)"
    assert(joins(s"SELECT o.id FROM $distinct o JOIN di d ON o.id = d.k AND ${near("o", "d")}") ==
      "ours(dt-ot)")
  }
}
