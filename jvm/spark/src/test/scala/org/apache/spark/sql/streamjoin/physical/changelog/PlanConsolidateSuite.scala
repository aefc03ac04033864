package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.FormattedMode
import org.apache.spark.sql.streamjoin.AnalysisSession

import io.streamjoin.PythonApi

/** Where what comes out of a query is netted above its joins, and by what. */
class PlanConsolidateSuite extends AnalysisSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val rows = stream("value AS id", "value % 3 AS cust", "value % 5 AS amount", "value AS seq")
    val names = stream("value AS id", "CAST(value AS STRING) AS name", "value AS seq")
    def keyed(df: DataFrame) = PythonApi.fromUpserts(df, java.util.List.of("id"), "seq", null)
    keyed(rows).createOrReplaceTempView("orders")
    keyed(names).createOrReplaceTempView("customers")
    rows.createOrReplaceTempView("appended")
    val changes = stream("value AS id", "map(value, 1) AS tags", "'insert' AS _change_type")
    PythonApi.fromChangelog(
      changes,
      java.util.List.of(),
      "_change_type",
      java.util.Map.of(),
      null
    ).createOrReplaceTempView("counted")
  }

  private def explained(df: DataFrame): String =
    // Spark looks for streams in what was parsed
    session.sessionState.executePlan(planOf(df)).explainString(FormattedMode)

  private val Node = """(?m)^Consolidate by (.*)$""".r

  /** By what each of the nodes of a query nets. */
  private def netted(text: String): Seq[String] =
    Node.findAllMatchIn(explained(session.sql(text))).map(_.group(1)).toSeq

  private def left(columns: String, how: String = "LEFT", on: String = "o.cust = c.id") =
    s"SELECT $columns, _change_type FROM orders o $how JOIN customers c ON $on"

  test("by the output key where the equality does not come out, or not for all rows") {
    assert(netted(left("o.id, c.name")) == Seq("id"))
    assert(netted(left("o.id AS number, upper(c.name) AS name")) == Seq("id"))
    // a padded row has no customer
    assert(netted(left("o.id, c.id AS customer, c.name")) == Seq("id"))
    assert(netted(left("o.id, o.cust, c.name", "FULL")) == Seq("all columns"))
    assert(netted(left("o.id, c.id, c.name", "FULL")) == Seq("id, id"))
    assert(netted(left("c.id, o.amount", "RIGHT", "o.cust = c.id AND o.amount = c.seq"))
      == Seq("all columns"))
  }

  test("by all columns where the output has no key, or not all of it comes out") {
    assert(netted(left("c.name")) == Seq("all columns"))
    assert(netted(left("o.id % 10 AS shard, c.name")) == Seq("all columns"))
    assert(netted("SELECT c.tags, _change_type FROM orders o JOIN counted c ON o.cust = c.id")
      == Seq("all columns"))
  }

  test("not where rows of different join keys differ in what comes out") {
    for (
      query <- Seq(
        left("*"),
        left("o.id, o.cust AS customer, c.name"),
        left("c.id, c.name", "INNER"),
        left("o.cust, c.name", "INNER"),
        left("o.cust, c.id, c.name", "FULL"),
        left("c.id, o.amount", "RIGHT"),
        left("o.id", on = "o.id = c.id"),
        left("o.cust", on = "o.cust + 1 = c.id"),
        left("o.amount, o.cust", on = "o.cust = c.id AND o.amount = c.seq"),
        left("o.cust, IF(_change_type = 'delete', NULL, c.name) AS value")
      )
    ) assert(netted(query) == Nil, query)
    assert(netted(left("o.amount", on = "o.cust = c.id AND o.amount = c.seq")) != Nil)
    assert(netted(left("o.cust + 1 AS next")) != Nil)
    // it tells join keys apart, but not rows of one
    assert(netted(left("o.cust + 1 AS next", on = "o.cust + 1 = c.id")) == Seq("all columns"))
  }

  test("what an expression needs that depends on the kind, or is another each time, comes out") {
    assert(netted(left("o.id, IF(_change_type = 'delete', NULL, o.cust) AS customer")) == Nil)
    val text =
      explained(
        session.sql(left("o.id, IF(_change_type = 'delete', NULL, c.name) AS value, rand()"))
      )
    assert(Node.findAllMatchIn(text).map(_.group(1)).toSeq == Seq("id"))
    assert(
      netted(s"SELECT * FROM (${left("o.id, c.name")}) WHERE _change_type <> 'update_preimage'")
        == Seq("id")
    )
  }

  test(
    "within each join key, with no shuffle, where only what is computed of others may be equal"
  ) {
    def computed(how: String, columns: String) = {
      val query = left(s"$columns, upper(c.name) AS name", how)
      (netted(query), "Exchange".r.findAllIn(explained(session.sql(query))).length)
    }
    val shuffles = "Exchange".r.findAllIn(explained(session.sql(left("*")))).length
    for (how <- Seq("LEFT", "INNER"))
      assert(computed(how, "o.id, o.cust") == ((Seq("id, within each join key"), shuffles)), how)
    assert(computed("INNER", "o.id, c.id AS c") == ((Seq("id, within each join key"), shuffles)))
    assert(computed(
      "RIGHT",
      "o.id, c.id AS c"
    ) == ((Seq("id, id, within each join key"), shuffles)))
    assert(computed("FULL", "o.id, o.cust, c.id AS c")._1 == Seq("id, id"))
    assert(computed("LEFT", "o.cust, c.name AS c")._1 == Nil)
    assert(netted(left("o.cust, 1 AS one")) == Nil)
  }

  test("by what comes out of the last of several projections") {
    val twice =
      s"SELECT id, cust, length(n) + length(n) AS twice, _change_type FROM (${left("o.id, o.cust, upper(c.name) AS n")})"
    val text = explained(session.sql(twice))
    assert(netted(twice) == Seq("id, within each join key"))
    // nodes are listed from the inputs upwards
    assert(
      text.contains("length(") && text.indexOf("length(") < text.indexOf("Consolidate by"),
      text
    )
  }

  test(
    "by what comes out, also where the optimizer leaves projections and filters as they were written"
  ) {
    val rules = "org.apache.spark.sql.catalyst.optimizer"
    val off =
      Seq("CollapseProject", "ColumnPruning", "PushPredicateThroughNonJoin", "PushDownPredicates")
    val key = "spark.sql.optimizer.excludedRules"
    session.conf.set(key, off.map(rule => s"$rules.$rule").mkString(","))
    try {
      val wide = left("o.id, o.cust, c.name")
      assert(netted(s"SELECT id, name, _change_type FROM ($wide)") == Seq("id"))
      assert(netted(
        s"SELECT name, _change_type FROM (SELECT * FROM ($wide) WHERE id > 3) WHERE name <> ''"
      ) == Seq("all columns"))
    } finally session.conf.unset(key)
  }

  test("semi and anti joins, by what is left of the left input") {
    def asked(columns: String, exists: String = "EXISTS") =
      s"SELECT $columns, _change_type FROM orders o WHERE $exists (SELECT 1 FROM customers c WHERE c.id = o.cust)"
    assert(netted(asked("o.id")) == Seq("id"))
    assert(netted(asked("o.id", "NOT EXISTS")) == Seq("id"))
    assert(netted(asked("o.amount")) == Seq("all columns"))
    assert(netted(asked("o.id, o.cust")) == Nil)
  }

  test("without an equality, by what the rows are spread") {
    def unequal(columns: String, how: String) = left(columns, how, "o.amount < c.seq")
    assert(netted(unequal("o.id, c.name", "LEFT")) == Nil)
    assert(netted(unequal("o.amount, c.name", "LEFT")) == Seq("all columns"))
    assert(netted(unequal("c.id, o.amount", "RIGHT")) == Nil)
    assert(netted(unequal("o.amount, c.name", "FULL")) == Nil)
  }

  test("of a chain the uppermost join, and of a UNION ALL each part") {
    val chain =
      s"SELECT w.id, d.name, _change_type FROM (${left("o.id, o.amount, c.name")}) w LEFT JOIN customers d ON w.amount = d.id"
    assert(netted(chain).length == 1)
    assert(netted(chain.replace("w.id, d.name", "w.amount, d.name")) == Nil)
    // what a join below has found equal tells as much
    def above(how: String) =
      s"SELECT o.id, d.name, _change_type FROM orders o $how JOIN customers c ON o.id = c.id LEFT JOIN customers d ON c.id = d.id"
    assert(netted(above("INNER")) == Nil)
    assert(netted(above("LEFT")).length == 1)
    // but not where equal is not the same
    def collated(by: String) = {
      val orders = s"(SELECT cust, CAST(id AS STRING) COLLATE $by AS n, _change_type FROM orders)"
      val customers = s"(SELECT name COLLATE $by AS m, _change_type FROM customers)"
      s"SELECT o.n, d.name, _change_type FROM $orders o JOIN $customers c ON o.n = c.m " +
        "LEFT JOIN customers d ON c.m COLLATE UTF8_BINARY = d.name"
    }
    assert(netted(collated("UTF8_BINARY")) == Nil)
    assert(netted(collated("UTF8_LCASE")) == Seq("all columns"))
    // nor of rows that come from another part of a UNION ALL
    val parts =
      "SELECT o.id, c.seq, _change_type FROM orders o JOIN customers c ON o.id = c.seq UNION ALL " +
        "SELECT id, seq, _change_type FROM orders"
    val named = "LEFT JOIN customers d ON u.seq = d.id"
    assert(netted(s"SELECT u.id, d.name, _change_type FROM ($parts) u $named").length == 1)
    assert(netted(s"${left("o.id, c.name")} UNION ALL ${left("o.cust, c.name")}") == Seq("id"))
    assert(
      netted(s"WITH w AS (${left("o.id, c.name")}) SELECT * FROM w WHERE name > 'b'") == Seq("id")
    )
  }

  test("not below what nets by itself, nor where nothing is taken back") {
    def upserts(df: DataFrame) = PythonApi.toUpserts(df, java.util.List.of("id"))
    assert(Node.findFirstIn(explained(upserts(session.sql(left("o.id, c.name"))))).isEmpty)
    val sign = "IF(_change_type IN ('insert', 'update_postimage'), 1, -1)"
    assert(netted(s"SELECT name, sum($sign) FROM (${left("o.id, c.name")}) GROUP BY name") == Nil)
    def appended(how: String) =
      s"SELECT /*+ STREAM_JOIN(mode => 'changelog') */ a.id, _change_type FROM appended a $how JOIN appended b ON a.cust = b.cust"
    assert(netted(appended("INNER")) == Nil)
    assert(netted(appended("LEFT SEMI")) == Nil)
    assert(netted(appended("LEFT")) == Seq("all columns"))
    assert(netted(appended("LEFT ANTI")) == Seq("all columns"))
  }

  test("explain says why, and that an update is one again") {
    val text = explained(session.sql(left("o.id, c.name")))
    assert(text.contains(
      "rows of different join keys may be equal in the output, which lacks o.cust: changes " +
        "that cancel are dropped"
    ))
    assert(text.contains(
      "two images of one key (id) are emitted as an update, also where the join key changed"
    ))
    assert(explained(session.sql(left("c.name"))).contains("changes are emitted as insert and " +
      "delete"))
  }
}
