package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.FormattedMode
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}

/** Where and by which columns the output of a query is consolidated above its joins. */
class PlanConsolidateSuite extends AnalysisSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val rows = stream("value AS id", "value % 3 AS cust", "value % 5 AS amount", "value AS seq")
    val names = stream("value AS id", "CAST(value AS STRING) AS name", "value AS seq")
    def keyed(df: DataFrame) = PythonCalls.fromUpserts(df, java.util.List.of("id"), "seq", null)
    keyed(rows).createOrReplaceTempView("orders")
    keyed(names).createOrReplaceTempView("customers")
    rows.createOrReplaceTempView("appended")
    val changes = stream("value AS id", "map(value, 1) AS tags", "'insert' AS _change_type")
    PythonCalls.fromChangelog(
      changes,
      java.util.List.of(),
      "_change_type",
      java.util.Map.of(),
      null
    ).createOrReplaceTempView("counted")
  }

  private def explained(df: DataFrame): String =
    // Spark looks for streams in the parsed plan
    session.sessionState.executePlan(planOf(df)).explainString(FormattedMode)

  private val Node = """(?m)^Consolidate by (.*)$""".r

  /** The columns by which each Consolidate node of a query consolidates. */
  private def consolidatedBy(text: String): Seq[String] =
    Node.findAllMatchIn(explained(session.sql(text))).map(_.group(1)).toSeq

  private def left(columns: String, how: String = "LEFT", on: String = "o.cust = c.id") =
    s"SELECT $columns, _change_type FROM orders o $how JOIN customers c ON $on"

  test("consolidates by the output key if the query drops the join key or pads it") {
    assert(consolidatedBy(left("o.id, c.name")) == Seq("id"))
    assert(consolidatedBy(left("o.id AS number, upper(c.name) AS name")) == Seq("id"))
    // a padded row has no customer
    assert(consolidatedBy(left("o.id, c.id AS customer, c.name")) == Seq("id"))
    assert(consolidatedBy(left("o.id, o.cust, c.name", "FULL")) == Seq("all columns"))
    assert(consolidatedBy(left("o.id, c.id, c.name", "FULL")) == Seq("id, id"))
    assert(consolidatedBy(left("c.id, o.amount", "RIGHT", "o.cust = c.id AND o.amount = c.seq"))
      == Seq("all columns"))
  }

  test("consolidates by all columns if the output has no key or only a part of it") {
    assert(consolidatedBy(left("c.name")) == Seq("all columns"))
    assert(consolidatedBy(left("o.id % 10 AS shard, c.name")) == Seq("all columns"))
    assert(
      consolidatedBy("SELECT c.tags, _change_type FROM orders o JOIN counted c ON o.cust = c.id")
        == Seq("all columns")
    )
  }

  test("does not consolidate if the output distinguishes rows of different join keys") {
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
    ) assert(consolidatedBy(query) == Nil, query)
    assert(consolidatedBy(left("o.amount", on = "o.cust = c.id AND o.amount = c.seq")) != Nil)
    assert(consolidatedBy(left("o.cust + 1 AS next")) != Nil)
    // it distinguishes join keys, but not rows of one join key
    assert(consolidatedBy(left(
      "o.cust + 1 AS next",
      on = "o.cust + 1 = c.id"
    )) == Seq("all columns"))
  }

  test("columns of change-type or nondeterministic expressions count as output columns") {
    assert(
      consolidatedBy(left("o.id, IF(_change_type = 'delete', NULL, o.cust) AS customer")) == Nil
    )
    val text =
      explained(
        session.sql(left("o.id, IF(_change_type = 'delete', NULL, c.name) AS value, rand()"))
      )
    assert(Node.findAllMatchIn(text).map(_.group(1)).toSeq == Seq("id"))
    assert(
      consolidatedBy(
        s"SELECT * FROM (${left("o.id, c.name")}) WHERE _change_type <> 'update_preimage'"
      )
        == Seq("id")
    )
  }

  test(
    "consolidates within each join key, without a shuffle, if only computed columns can be equal"
  ) {
    def computed(how: String, columns: String) = {
      val query = left(s"$columns, upper(c.name) AS name", how)
      (consolidatedBy(query), "Exchange".r.findAllIn(explained(session.sql(query))).length)
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
    assert(consolidatedBy(left("o.cust, 1 AS one")) == Nil)
  }

  test("the join evaluates a filter above a column that must be evaluated once") {
    def merged(condition: String) = {
      val random = session.sql(left("o.id, o.amount")).selectExpr("*", "rand() AS r")
      AboveChanges.unapply(planOf(random.where(condition))).map(_._2.sql)
    }
    assert(merged("amount > 1").exists(_.contains("amount > ")))
    assert(merged("r < 0.5").isEmpty)
  }

  test("consolidates above the last of several projections") {
    val twice =
      s"SELECT id, cust, length(n) + length(n) AS twice, _change_type FROM (${left("o.id, o.cust, upper(c.name) AS n")})"
    val text = explained(session.sql(twice))
    assert(consolidatedBy(twice) == Seq("id, within each join key"))
    // nodes are listed from the inputs upwards
    assert(
      text.contains("length(") && text.indexOf("length(") < text.indexOf("Consolidate by"),
      text
    )
  }

  test(
    "consolidates by the output if the optimizer does not merge projections and filters"
  ) {
    val rules = "org.apache.spark.sql.catalyst.optimizer"
    val off =
      Seq("CollapseProject", "ColumnPruning", "PushPredicateThroughNonJoin", "PushDownPredicates")
    val key = "spark.sql.optimizer.excludedRules"
    session.conf.set(key, off.map(rule => s"$rules.$rule").mkString(","))
    try {
      val wide = left("o.id, o.cust, c.name")
      assert(consolidatedBy(s"SELECT id, name, _change_type FROM ($wide)") == Seq("id"))
      assert(consolidatedBy(
        s"SELECT name, _change_type FROM (SELECT * FROM ($wide) WHERE id > 3) WHERE name <> ''"
      ) == Seq("all columns"))
    } finally session.conf.unset(key)
  }

  test("semi and anti joins consolidate by the remaining columns of the left input") {
    def asked(columns: String, exists: String = "EXISTS") =
      s"SELECT $columns, _change_type FROM orders o WHERE $exists (SELECT 1 FROM customers c WHERE c.id = o.cust)"
    assert(consolidatedBy(asked("o.id")) == Seq("id"))
    assert(consolidatedBy(asked("o.id", "NOT EXISTS")) == Seq("id"))
    assert(consolidatedBy(asked("o.amount")) == Seq("all columns"))
    assert(consolidatedBy(asked("o.id, o.cust")) == Nil)
  }

  test("without an equality, consolidates if the output drops the key of the distributed input") {
    def unequal(columns: String, how: String) = left(columns, how, "o.amount < c.seq")
    assert(consolidatedBy(unequal("o.id, c.name", "LEFT")) == Nil)
    assert(consolidatedBy(unequal("o.amount, c.name", "LEFT")) == Seq("all columns"))
    assert(consolidatedBy(unequal("c.id, o.amount", "RIGHT")) == Nil)
    assert(consolidatedBy(unequal("o.amount, c.name", "FULL")) == Nil)
  }

  test("consolidates the uppermost join of a chain and each part of a UNION ALL") {
    val chain =
      s"SELECT w.id, d.name, _change_type FROM (${left("o.id, o.amount, c.name")}) w LEFT JOIN customers d ON w.amount = d.id"
    assert(consolidatedBy(chain).length == 1)
    assert(consolidatedBy(chain.replace("w.id, d.name", "w.amount, d.name")) == Nil)
    // equalities of a lower join distinguish rows too
    def above(how: String) =
      s"SELECT o.id, d.name, _change_type FROM orders o $how JOIN customers c ON o.id = c.id LEFT JOIN customers d ON c.id = d.id"
    assert(consolidatedBy(above("INNER")) == Nil)
    assert(consolidatedBy(above("LEFT")).length == 1)
    // but not if collated values are equal without being identical
    def collated(by: String) = {
      val orders = s"(SELECT cust, CAST(id AS STRING) COLLATE $by AS n, _change_type FROM orders)"
      val customers = s"(SELECT name COLLATE $by AS m, _change_type FROM customers)"
      s"SELECT o.n, d.name, _change_type FROM $orders o JOIN $customers c ON o.n = c.m " +
        "LEFT JOIN customers d ON c.m COLLATE UTF8_BINARY = d.name"
    }
    assert(consolidatedBy(collated("UTF8_BINARY")) == Nil)
    assert(consolidatedBy(collated("UTF8_LCASE")) == Seq("all columns"))
    // nor for rows of another part of a UNION ALL
    val parts =
      "SELECT o.id, c.seq, _change_type FROM orders o JOIN customers c ON o.id = c.seq UNION ALL " +
        "SELECT id, seq, _change_type FROM orders"
    val named = "LEFT JOIN customers d ON u.seq = d.id"
    assert(consolidatedBy(s"SELECT u.id, d.name, _change_type FROM ($parts) u $named").length == 1)
    assert(
      consolidatedBy(s"${left("o.id, c.name")} UNION ALL ${left("o.cust, c.name")}") == Seq("id")
    )
    assert(
      consolidatedBy(
        s"WITH w AS (${left("o.id, c.name")}) SELECT * FROM w WHERE name > 'b'"
      ) == Seq("id")
    )
  }

  test("does not consolidate below upserts and aggregates, nor append-only results") {
    def upserts(df: DataFrame) = PythonCalls.toUpserts(df, java.util.List.of("id"))
    assert(Node.findFirstIn(explained(upserts(session.sql(left("o.id, c.name"))))).isEmpty)
    val sign = "IF(_change_type IN ('insert', 'update_postimage'), 1, -1)"
    assert(
      consolidatedBy(s"SELECT name, sum($sign) FROM (${left("o.id, c.name")}) GROUP BY name") == Nil
    )
    def appended(how: String) =
      s"SELECT /*+ STREAM_JOIN(mode => 'changelog') */ a.id, _change_type FROM appended a $how JOIN appended b ON a.cust = b.cust"
    assert(consolidatedBy(appended("INNER")) == Nil)
    assert(consolidatedBy(appended("LEFT SEMI")) == Nil)
    assert(consolidatedBy(appended("LEFT")) == Seq("all columns"))
    assert(consolidatedBy(appended("LEFT ANTI")) == Seq("all columns"))
  }

  test("explain states why changes are consolidated and how updates are emitted") {
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
