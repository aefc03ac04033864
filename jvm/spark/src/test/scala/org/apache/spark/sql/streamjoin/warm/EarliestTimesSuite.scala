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
        Input.where(i.rows, Some(condition)).selectExpr("right(t, 8)").collect()
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

  /** What is read of histories with the values 10 and 100. A delivery comes up to the end. */
  private def readOf(time: String, end: String, lag: Any): Seq[Option[Seq[String]]] = {
    val live = Seq("value", "value + 1").map(id => stream(s"$id AS id", s"$time AS t"))
    val past = session.sql("SELECT explode(array(10L, 100L)) AS value")
      .selectExpr("value AS id", s"$time AS t")
    val inputs = live.map(PythonCalls.imposeOrder(_, "t", java.util.Map.of("lag", lag)))
    val on = s"a.id = b.id AND b.t BETWEEN a.t AND $end"
    val query = joined(inputs.head.as("a"), inputs.last.as("b"), on, "left")
    read(query, live.map(_ -> past): _*)
  }

  test("there is no condition if no value of the type is before the bound") {
    val dates = "date_from_unix_date(CAST(value AS INT))"
    val columns = Seq(
      ("CAST(value AS TINYINT)", "a.t + 120L", 0),
      ("CAST(value AS SMALLINT)", "a.t + 20000L", 0),
      ("CAST(value AS INT)", "a.t + 2000000000L", 0),
      (dates, "date_add(a.t, 2000000000)", "0 days")
    )
    for (ansi <- Seq("true", "false"); (time, far, lag) <- columns)
      withClue(s"$time, ANSI: $ansi") {
        session.conf.set("spark.sql.ansi.enabled", ansi)
        try {
          val (near, last) =
            if (time == dates) ("date_add(a.t, 40)", "70-04-11") else ("a.t + 40L", "100")
          assert(readOf(time, near, lag) == Seq.fill(2)(Some(Seq(last))))
          assert(readOf(time, far, lag) == Seq(None, None))
        } finally session.conf.unset("spark.sql.ansi.enabled")
      }
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
