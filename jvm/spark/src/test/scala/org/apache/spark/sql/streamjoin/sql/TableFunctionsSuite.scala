package org.apache.spark.sql.streamjoin.sql

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{
  UnresolvedRelation,
  UnresolvedSubqueryColumnAliases,
  UnresolvedTableValuedFunction
}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  LastRows,
  RelationWindow,
  UnresolvedChangelog,
  UnresolvedImposeOrder
}

/** [[ResolveTableFunctions]] and [[RefuseForeignFunctions]], each on its own. */
class TableFunctionsSuite extends AnalysisSession {

  private def parsed(function: String): LogicalPlan =
    CatalystSqlParser.parsePlan(s"SELECT * FROM $function")

  private def rules: Seq[Rule[LogicalPlan]] =
    Seq(ResolveTableFunctions, RefuseForeignFunctions(session))

  private def reads(plan: LogicalPlan, name: String): Boolean = plan.exists {
    case UnresolvedRelation(Seq(`name`), _, _) => true
    case _                                     => false
  }

  private def refused(
      rule: Rule[LogicalPlan],
      function: String,
      condition: String,
      says: String*
  ) = {
    val refused = refusal(rule(parsed(function)))
    assert(refused.getCondition == s"STREAM_JOIN.$condition")
    says.foreach(text => assert(refused.getMessage.contains(text), refused.getMessage))
  }

  test("IMPOSE_ORDER becomes an order with an option by name") {
    val order = ResolveTableFunctions(
      parsed(
        "IMPOSE_ORDER(TABLE(t), DESCRIPTOR(ot), INTERVAL '1' MINUTE, max_ahead => INTERVAL '1' HOUR)"
      )
    ).collectFirst { case o: UnresolvedImposeOrder => o }.get
    assert(order.column == Seq("ot") && reads(order.child, "t"))
    assert(order.lag.sql == "INTERVAL '01' MINUTE")
    assert(order.maxAhead.map(_.sql) == Some("INTERVAL '01' HOUR"))
    assert(order.idleTimeout.isEmpty && order.ahead.isEmpty)
  }

  test("IMPOSE_ORDER with missing or invalid arguments is refused") {
    val rule = ResolveTableFunctions
    for (
      (arguments, says) <- Seq(
        "TABLE(t), DESCRIPTOR(ot)" -> "the lag, is missing",
        "TABLE(t), 1 + 1, INTERVAL '1' MINUTE" -> "DESCRIPTOR(column)",
        "TABLE(t), DESCRIPTOR(a, b), INTERVAL '1' MINUTE" -> "with one column",
        "1, DESCRIPTOR(ot), INTERVAL '1' MINUTE" -> "TABLE(...)"
      )
    ) refused(rule, s"IMPOSE_ORDER($arguments)", "INVALID_IMPOSE_ORDER", says)
  }

  test("the refusal of another function with a DESCRIPTOR names it and what to write") {
    val rule = RefuseForeignFunctions(session)
    for (window <- Seq("TUMBLE", "hop", "CUMULATE", "Session"))
      refused(
        rule,
        s"$window(TABLE(t), DESCRIPTOR(ot), INTERVAL '1' MINUTE)",
        "OTHER_DIALECT",
        s"$window belongs to Flink SQL",
        "GROUP BY window(order_time, '10 minutes')"
      )
    refused(
      rule,
      "IMPOSE_ORDERS(TABLE(t), DESCRIPTOR(ot), INTERVAL '1' MINUTE)",
      "UNKNOWN_FUNCTION",
      "there is no table function IMPOSE_ORDERS",
      "Write IMPOSE_ORDER, which has a similar name"
    )
    refused(
      rule,
      "COMPLETELY_OTHER(TABLE(t), DESCRIPTOR(ot))",
      "UNKNOWN_FUNCTION",
      "there is no table function COMPLETELY_OTHER",
      "FROM_CHANGELOG, FROM_UPSERTS, FROM_DEBEZIUM"
    )
  }

  test("group windows of Flink SQL are refused unless the session has such a function") {
    val rule = RefuseForeignFunctions(session)
    def grouped(by: String) =
      CatalystSqlParser.parsePlan(s"SELECT count(*) FROM t GROUP BY $by")
    for (window <- Seq("TUMBLE(ot, INTERVAL '1' MINUTE)", "hop_start(ot, INTERVAL '1' MINUTE)")) {
      val e = refusal(rule(grouped(window)))
      assert(e.getCondition == "STREAM_JOIN.OTHER_DIALECT")
      assert(e.getMessage.contains(s"${window.takeWhile(_ != '(')} belongs to Flink SQL"))
      assert(e.getMessage.contains("GROUP BY window("))
    }
    for (other <- Seq("session(user_id)", "window(ot, '1 minute')", "tumble('a')"))
      assert(rule(grouped(other)) == grouped(other))
    session.udf.register("tumble", (at: java.sql.Timestamp, _: java.time.Duration) => at)
    val own = grouped("TUMBLE(ot, INTERVAL '1' MINUTE)")
    try assert(rule(own) == own)
    finally session.sql("DROP TEMPORARY FUNCTION tumble")
  }

  test("STREAM_WINDOW becomes a window with its lengths and directions, or the last n rows") {
    def window(arguments: String): LogicalPlan =
      ResolveTableFunctions(
        parsed(s"STREAM_WINDOW(TABLE(t), $arguments) AS w(a, b)")
      ).collectFirst {
        case w: RelationWindow => w
        case w: LastRows       => w
      }.get
    window("INTERVAL '10' MINUTE, 'following'") match {
      case w: RelationWindow =>
        assert(w.lengths.map(_.sql) == Seq("INTERVAL '10' MINUTE"))
        assert(w.preceding == Seq(false) && reads(w, "t"))
        assert(w.child.isInstanceOf[UnresolvedSubqueryColumnAliases])
      case other => fail(other.toString)
    }
    window("INTERVAL '1' MINUTE, 'PRECEDING', INTERVAL '2' MINUTE, 'FOLLOWING'") match {
      case w: RelationWindow =>
        assert(w.lengths.map(_.sql) == Seq("INTERVAL '01' MINUTE", "INTERVAL '02' MINUTE"))
        assert(w.preceding == Seq(true, false))
      case other => fail(other.toString)
    }
    window("3, 'ROWS PRECEDING'") match {
      case w: LastRows => assert(w.count == 3)
      case other       => fail(other.toString)
    }
  }

  test("STREAM_WINDOW with an invalid direction, length or count is refused") {
    for (
      (arguments, says) <- Seq(
        "INTERVAL '10' MINUTE, 'AROUND'" -> "its direction must be",
        "INTERVAL '10' MINUTE" -> "one or two pairs of an interval",
        "0, 'ROWS PRECEDING'" -> "not a whole number above 0"
      )
    )
      refused(ResolveTableFunctions, s"STREAM_WINDOW(TABLE(t), $arguments)", "INVALID_WINDOW", says)
  }

  test("changelog functions take columns as descriptors or as strings") {
    def changes(function: String): UnresolvedChangelog =
      ResolveTableFunctions(parsed(function)).collectFirst { case c: UnresolvedChangelog =>
        c
      }.get
    val log = changes("FROM_CHANGELOG(TABLE(t), key => DESCRIPTOR(a, b), op => 'kind')")
    assert(log.function == "from_changelog" && reads(log.child, "t"))
    assert(log.columns == Map("key" -> Seq("a", "b"), "op" -> Seq("kind")))
    val upserts = changes("FROM_UPSERTS(TABLE(t), 'id', DESCRIPTOR(m.seq), deletes => 'gone')")
    assert(upserts.columns == Map("key" -> Seq("id"), "sequence_by" -> Seq("m.seq")))
    assert(upserts.deletes.map(_.sql) == Some("'gone'"))
    for (
      (function, says) <- Seq(
        "FROM_UPSERTS(1, 'id', 'seq')" -> "the first argument must be TABLE(...)",
        "FROM_UPSERTS(TABLE(t), 1 + 1, 'seq')" -> "the argument key must be DESCRIPTOR(column)"
      )
    ) refused(ResolveTableFunctions, function, "INVALID_CHANGELOG", says)
  }

  test("a function with another name or a qualifier is left unchanged") {
    for (
      (name, similar, arguments) <- Seq(
        (
          "impose_order",
          "impose_orders",
          "TABLE(t), DESCRIPTOR(ot), INTERVAL '1' MINUTE"
        ),
        (
          "stream_window",
          "stream_windows",
          "TABLE(t), INTERVAL '10' MINUTE, 'FOLLOWING'"
        ),
        ("from_upserts", "from_upsert", "TABLE(t), 'id', 'seq'")
      )
    ) {
      def isReplaced(function: String) = {
        val plan = parsed(s"$function($arguments)")
        ResolveTableFunctions(plan) != plan
      }
      assert(isReplaced(name) && isReplaced(name.toUpperCase(Locale.ROOT)), name)
      assert(!isReplaced(similar) && !isReplaced(s"db.$name"), name)
    }
  }

  test("Spark's own table functions are left unchanged") {
    for (rule <- rules; function <- Seq("range(5)", "explode(array(1))")) {
      val plan = parsed(function)
      assert(rule(plan) == plan && plan.exists(_.isInstanceOf[UnresolvedTableValuedFunction]))
    }
  }
}
