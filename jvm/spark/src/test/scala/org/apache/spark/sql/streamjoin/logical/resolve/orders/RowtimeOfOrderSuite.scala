package org.apache.spark.sql.streamjoin.logical.resolve.orders

import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamOrder

/** `ORDER BY ROWTIME` sorts by the event time of a row, whatever columns the query selects. */
class RowtimeOfOrderSuite extends AnalysisSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    for (name <- Seq("a", "b"))
      ordered(stream("value AS k", "timestamp AS t"), "t").createOrReplaceTempView(name)
  }

  /** The number of columns in the first sort key, and the output columns. */
  private def orderedBy(text: String): (Int, Seq[String]) = {
    val plan = analyzed(text)
    val order = plan.collectFirst { case o: StreamOrder => o.order.head }.get
    (order.references.size, plan.output.map(_.name))
  }

  private val near = "a.k = b.k AND b.t BETWEEN a.t - INTERVAL 1 HOUR AND a.t + INTERVAL 1 HOUR"
  private val windows = "a OVER (RANGE INTERVAL 1 HOUR PRECEDING) AS a JOIN " +
    "b OVER (RANGE INTERVAL 1 HOUR PRECEDING) AS b ON a.k = b.k"

  for (
    from <- Seq(s"a JOIN b ON $near", windows);
    (list, columns) <- Seq(
      "a.k" -> Seq("k"),
      "a.k, b.t" -> Seq("k", "t"),
      "b.t AS x" -> Seq("x"),
      "a.t, b.t" -> Seq("t", "t"),
      "*" -> Seq("k", "t", "k", "t"),
      "ROWTIME AS r, b.t" -> Seq("r", "t"),
      "1 AS one" -> Seq("one")
    );
    order <- Seq("ORDER BY ROWTIME", "SORT BY ROWTIME", "ORDER BY ROWTIME, a.k")
  )
    test(s"SELECT $list FROM $from $order")(
      assert(orderedBy(s"SELECT $list FROM $from $order") == (2 -> columns))
    )

  test("an output column ROWTIME takes precedence") {
    assert(orderedBy(s"SELECT a.k, b.t AS ROWTIME FROM a JOIN b ON $near ORDER BY ROWTIME") ==
      (1 -> Seq("k", "ROWTIME")))
  }

  test("ORDER BY ROWTIME of one stream sorts by its event time, selected or not") {
    for (list <- Seq("k", "t", "k + 1 AS t"))
      assert(orderedBy(s"SELECT $list FROM a ORDER BY ROWTIME")._1 == 1)
  }

  // ---- the watermark of the order ----

  private val Hour = 60L * 60 * 1000 * 1000

  /** The watermark of an order by ROWTIME for watermarks of `a` and `b`, all in hours. */
  private def watermark(from: String, a: Long, b: Long): Long = {
    val order = analyzed(s"SELECT a.k FROM $from ORDER BY ROWTIME").collectFirst {
      case o: StreamOrder => o
    }.get
    order.watermark._2.get.eval(Array(a * Hour, b * Hour)) / Hour
  }

  for (how <- Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
    test(s"$how: the watermark of ORDER BY ROWTIME is the smaller input watermark") {
      val from = s"a $how b ON $near"
      assert(watermark(from, 10, 5) == 5 && watermark(from, 5, 10) == 5)
    }
}
