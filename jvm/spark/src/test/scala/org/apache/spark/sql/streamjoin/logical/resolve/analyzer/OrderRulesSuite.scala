package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.{
  ImposeOrder,
  StreamOrder,
  UnresolvedImposeOrder
}
import org.apache.spark.sql.streamjoin.logical.resolve.orders.ResolveOrders

/** [[ResolveOrders]], [[ResolveRowtime]], [[ResolveStreamOrder]] and [[InlineOrderedCTE]], each alone. */
class OrderRulesSuite extends AnalysisSession {

  private lazy val plain = planOf(stream("value AS k", "timestamp AS t"))

  private lazy val inOrder = planOf(ordered(stream("value AS k", "timestamp AS t"), "t"))

  private def table(like: LogicalPlan): LogicalPlan = LocalRelation(like.output)

  private def time(plan: LogicalPlan): Attribute = plan.output.find(_.name == "t").get

  // ---- ResolveOrders ----

  private def asked(child: LogicalPlan) =
    UnresolvedImposeOrder(Seq("t"), Literal("1 minute"), None, None, None, child)

  test("an order asked of a stream that is known") {
    val order = ResolveOrders(asked(plain)).collectFirst { case o: ImposeOrder => o }.get
    assert(order.column.exprId == time(plain).exprId && order.lag == 60L * 1000 * 1000)
  }

  test("an order waits for its input, and its arguments") {
    val unknown = asked(UnresolvedRelation(Seq("t")))
    assert(ResolveOrders(unknown) == unknown)
    val lag = asked(plain).copy(lag = UnresolvedAttribute("x"))
    assert(ResolveOrders(lag) == lag)
  }

  test("an order of a table is dropped") {
    val order = inOrder.collectFirst { case o: ImposeOrder => o }.get
    assert(ResolveOrders(order) == order)
    val rows = table(order.child)
    assert(ResolveOrders(order.withNewChildren(Seq(rows))) == rows)
  }

  // ---- ResolveRowtime ----

  private val rowtime = UnresolvedAttribute("ROWTIME")

  test("ROWTIME is the event time, under its own name in a list") {
    ResolveRowtime(Project(Seq(rowtime), inOrder)) match {
      case Project(Seq(Alias(a: Attribute, "ROWTIME")), _) =>
        assert(a.exprId == time(inOrder).exprId)
      case other => fail(other.toString)
    }
    val above = GreaterThan(rowtime, Literal(0L))
    assert(ResolveRowtime(Filter(above, inOrder)).expressions.head.references ==
      AttributeSet(time(inOrder)))
  }

  test("ROWTIME of a table, and a column of this name, are Spark's") {
    val called = Project(Seq(Alias(time(inOrder), "rowtime")()), inOrder)
    for (child <- Seq(table(inOrder), called)) {
      val list = Project(Seq(rowtime), child)
      assert(ResolveRowtime(list) == list)
    }
  }

  test("ROWTIME of a stream without an event time is refused") {
    assert(refusal(ResolveRowtime(Project(Seq(rowtime), plain))).getCondition ==
      "STREAM_JOIN.INVALID_ROWTIME")
  }

  // ---- ResolveStreamOrder ----

  private def sorted(child: LogicalPlan, direction: SortDirection = Ascending) =
    Sort(Seq(SortOrder(time(child), direction)), global = true, child)

  test("a sort by an event time is an order") {
    ResolveStreamOrder(sorted(inOrder)) match {
      case o: StreamOrder =>
        assert(o.time.semanticEquals(time(inOrder)) && o.child == inOrder)
      case other => fail(other.toString)
    }
  }

  test("any other sort stays: a table's for Spark, a stream's to be refused") {
    val ofTable = sorted(table(inOrder))
    assert(ResolveStreamOrder(ofTable) == ofTable)
    ResolveStreamOrder.check(ofTable)
    for (sort <- Seq(sorted(inOrder, Descending), sorted(plain))) {
      assert(ResolveStreamOrder(sort) == sort)
      assert(refusal(ResolveStreamOrder.check(sort)).getCondition ==
        "STREAM_JOIN.UNSUPPORTED_ORDER")
    }
  }

  private def refusedOrder(query: => Any): String = {
    val e = refusal(query)
    assert(e.getCondition == "STREAM_JOIN.UNSUPPORTED_ORDER")
    e.getMessage
  }

  test("what to sort by instead is a name that means one column, and is right when it is written") {
    for (name <- Seq("a", "b"))
      ordered(stream("value AS k", "timestamp AS t"), "t").createOrReplaceTempView(name)
    val join = "a JOIN b ON a.k = b.k AND b.t BETWEEN a.t AND a.t + INTERVAL 1 HOUR"
    for (
      (query, written) <- Seq(
        s"SELECT * FROM $join" -> "a.t",
        s"SELECT a.k, b.t FROM $join" -> "t",
        s"SELECT a.k, b.t AS `my t` FROM $join" -> "`my t`"
      )
    ) {
      val said = refusedOrder(session.sql(s"$query ORDER BY a.k"))
      assert(said.contains(s"ORDER BY $written, ..."))
      assert(analyzed(s"$query ORDER BY $written, a.k").exists(_.isInstanceOf[StreamOrder]))
    }
  }

  test("a name that two columns have is Spark's error, as of tables") {
    val (a, b) = (stream("value AS k", "timestamp AS t"), stream("value AS k", "timestamp AS t"))
    def refused(left: DataFrame, right: DataFrame) = {
      val on = "a.k = b.k AND b.t BETWEEN a.t AND a.t + INTERVAL 1 HOUR"
      val e =
        intercept[AnalysisException](left.as("a").join(right.as("b"), expr(on)).sort("t"))
      (e.getCondition, e.getMessageParameters)
    }
    val tables = session.range(1).selectExpr("id AS k", "timestamp_seconds(id) AS t")
    assert(refused(ordered(a, "t"), ordered(b, "t")) == refused(tables, tables))
  }

  test("a time without a watermark is itself what is to get one, with a lag that it may have") {
    val times = stream("timestamp AS t", "value AS n", "CAST(timestamp AS DATE) AS d")
    for (
      (column, said) <- Seq(
        "t" -> """imposeOrder("t", "1 minute"), and sort by it first""",
        "d" -> """imposeOrder("d", "1 day"), and sort by it first""",
        "n" -> ("If it increases with time, impose an order on it below, as in " +
          """df.imposeOrder("n", 100). Or""")
      )
    )
      assert(refusedOrder(times.orderBy(column)).contains(said))
  }

  test("what would undo an order is refused above it") {
    val order = ResolveStreamOrder(sorted(inOrder))
    for (above <- Seq(Repartition(2, shuffle = true, order), Distinct(order))) {
      val refused = refusal(ResolveStreamOrder.check(above))
      assert(refused.getMessage.contains("does not keep the order"))
    }
    ResolveStreamOrder.check(Repartition(1, shuffle = false, order))
    ResolveStreamOrder.check(Filter(Literal.TrueLiteral, order))
  }

  // ---- InlineOrderedCTE ----

  private def readTwice(query: LogicalPlan): LogicalPlan = {
    val definition = CTERelationDef(SubqueryAlias("x", query))
    def reference = CTERelationRef(
      definition.id,
      _resolved = true,
      query.output.map(_.newInstance()),
      query.isStreaming
    )
    WithCTE(Union(reference, reference), Seq(definition))
  }

  test("an ordered expression stands wherever it is read") {
    val inlined = InlineOrderedCTE(readTwice(inOrder))
    assert(!inlined.exists(p => p.isInstanceOf[WithCTE] || p.isInstanceOf[CTERelationRef]))
    assert(inlined.collect { case o: ImposeOrder => o }.length == 2)
  }

  test("one without an order, or of tables, is left to Spark") {
    for (query <- Seq(plain, table(inOrder))) {
      val plan = readTwice(query)
      assert(InlineOrderedCTE(plan) == plan)
    }
  }
}
