package org.apache.spark.sql.streamjoin.warm

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{classic, DataFrame}
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.InputSources

/** Which rows of a history are read. */
class EarliestTimesSuite extends AnalysisSession {

  private lazy val orders = stream("value AS id", "timestamp AS t")
  private lazy val deliveries = stream("value + 1 AS id", "timestamp AS t")

  /** Rows of a history with these times; an empty one is NULL. */
  private def rows(times: String*): DataFrame = {
    val values = times.map { t =>
      if (t.isEmpty) "(1L, CAST(NULL AS TIMESTAMP))" else s"(1L, TIMESTAMP'2024-05-04 $t')"
    }
    session.sql(
      if (values.isEmpty) "SELECT 1L AS id, current_timestamp() AS t WHERE false"
      else values.mkString("SELECT * FROM VALUES ", ", ", " AS v(id, t)")
    )
  }

  private def input(live: DataFrame, history: DataFrame): Input = {
    val plan = planOf(live)
    new Input(
      plan,
      InputSources.leaves(plan).head,
      history.asInstanceOf[classic.DataFrame],
      History(live, history, None),
      "a stream"
    )
  }

  /** The times of each history that are read, or all if no condition is known. */
  private def read(query: DataFrame, inputs: (DataFrame, DataFrame)*): Seq[Option[Seq[String]]] = {
    val all = inputs.map { case (live, history) => input(live, history) }
    val conditions = new EarliestTimes(planOf(query), all).conditions
    all.map(i =>
      conditions.get(i).map { condition =>
        Input.where(i.rows, Some(condition)).selectExpr("date_format(t, 'HH:mm:ss')").collect()
          .toSeq.map(row => Option(row.getString(0)).getOrElse(""))
      }
    )
  }

  private def order(rows: DataFrame, alias: String, more: (String, Any)*): DataFrame =
    PythonCalls.imposeOrder(rows, "t", (more :+ ("lag" -> "1 minute")).toMap.asJava).as(alias)

  private def query(a: DataFrame, b: DataFrame): DataFrame =
    joined(a, b, "a.id = b.id AND b.t BETWEEN a.t AND a.t + INTERVAL 1 HOUR", "left")

  test("the example of the class: twice the distance before the least watermark") {
    val (o, d) = (rows("11:58:59", "11:59:00", "", "14:00:00"), rows("10:00:00", "14:00:00"))
    val found = read(
      query(order(orders, "a"), order(deliveries, "b")),
      orders -> o,
      deliveries -> d
    )
    assert(found == Seq(Some(Seq("11:59:00", "", "14:00:00")), Some(Seq("14:00:00"))))
  }

  test("the history is read as a whole if a watermark does not follow from its times") {
    val (o, d) = (rows("10:00:00", "14:00:00"), rows("14:00:00"))
    def found(query: DataFrame, ofOrders: DataFrame = o) =
      read(query, orders -> ofOrders, deliveries -> d)
    val b = order(deliveries, "b")
    assert(found(query(order(orders, "a"), b)).forall(_.nonEmpty))
    assert(found(query(order(orders, "a", "max_ahead" -> "1 hour"), b)).forall(_.isEmpty))
    assert(found(query(order(orders, "a"), b), rows()).forall(_.isEmpty))
    assert(found(query(order(orders, "a"), b), rows("")).forall(_.isEmpty))
  }

  test("a time that differs in each reading is no condition") {
    val moved = orders.selectExpr("id", "t + make_interval(0, 0, 0, 0, 0, 0, rand()) AS t")
    val found = read(
      query(order(moved, "a"), order(deliveries, "b")),
      orders -> rows("10:00:00", "14:00:00"),
      deliveries -> rows("10:00:00", "14:00:00")
    )
    assert(found == Seq(None, Some(Seq("14:00:00"))))
  }
}
