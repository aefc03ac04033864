package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  ImposeOrder,
  StreamOrder,
  UnresolvedImposeOrder
}
import org.apache.spark.sql.streamjoin.logical.resolve.orders.ResolveOrders

/**
 * [[ResolveOrders]], [[ResolveRowtime]], [[ResolveStreamOrder]] and [[InlineOrderedCTE]], each on
 * its own.
 */
class OrderRulesSuite extends AnalysisSession {

  private lazy val plain = planOf(stream("value AS k", "timestamp AS t"))

  private lazy val inOrder = planOf(ordered(stream("value AS k", "timestamp AS t"), "t"))

  private def table(like: LogicalPlan): LogicalPlan = LocalRelation(like.output)

  private def time(plan: LogicalPlan): Attribute = plan.output.find(_.name == "t").get

  // ---- ResolveOrders ----

  private def requested(child: LogicalPlan) =
    UnresolvedImposeOrder(Seq("t"), Literal("1 minute"), None, None, None, Nil, child)

  test("IMPOSE_ORDER on a resolved stream becomes an ImposeOrder") {
    val order = ResolveOrders(requested(plain)).collectFirst { case o: ImposeOrder => o }.get
    assert(order.column.exprId == time(plain).exprId && order.lag == 60L * 1000 * 1000)
  }

  test("IMPOSE_ORDER stays unresolved until its input and its lag are resolved") {
    val unknown = requested(UnresolvedRelation(Seq("t")))
    assert(ResolveOrders(unknown) == unknown)
    val lag = requested(plain).copy(lag = UnresolvedAttribute("x"))
    assert(ResolveOrders(lag) == lag)
  }

  test("an ImposeOrder on a table is removed") {
    val order = inOrder.collectFirst { case o: ImposeOrder => o }.get
    assert(ResolveOrders.OfTables(order) == order)
    val rows = table(order.child)
    assert(ResolveOrders.OfTables(order.withNewChildren(Seq(rows))) == rows)
  }

  test("the columns of an order on a table can be referenced over Spark Connect") {
    val rows = LocalRelation(inOrder.output.map(_.newInstance()))
    rows.setTagValue(LogicalPlan.PLAN_ID_TAG, 1L)
    val order = UnresolvedHint("impose_order", Seq(Literal("t"), Literal("1 minute")), rows)
    order.setTagValue(LogicalPlan.PLAN_ID_TAG, 2L)
    val column = UnresolvedAttribute("k")
    column.setTagValue(LogicalPlan.PLAN_ID_TAG, 2L)
    val analyzed = session.sessionState.executePlan(Project(Seq(column), order)).analyzed
    assert(analyzed.output.map(_.name) == Seq("k"))
    assert(!analyzed.exists(_.isInstanceOf[ImposeOrder]))
  }

  // ---- ResolveRowtime ----

  private val rowtime = UnresolvedAttribute("ROWTIME")

  test("ROWTIME resolves to the event time, with the alias ROWTIME in a SELECT list") {
    ResolveRowtime(Project(Seq(rowtime), inOrder)) match {
      case Project(Seq(Alias(a: Attribute, "ROWTIME")), _) =>
        assert(a.exprId == time(inOrder).exprId)
      case other => fail(other.toString)
    }
    val above = GreaterThan(rowtime, Literal(0L))
    assert(ResolveRowtime(Filter(above, inOrder)).expressions.head.references ==
      AttributeSet(time(inOrder)))
  }

  test("ROWTIME of a table, or of an input with a column of this name, is left to Spark") {
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

  test("Spark looks up names before ROWTIME does") {
    val df = ordered(stream("value AS k", "timestamp AS t"), "t")
    assert(df.drop("rowtime").columns.toSeq == Seq("k", "t"))
    session.sql("DECLARE OR REPLACE VARIABLE rowtime = 7")
    try assert(planOf(df.selectExpr("k + rowtime")).references.map(_.name).toSeq == Seq("k"))
    finally session.sql("DROP TEMPORARY VARIABLE rowtime")
    assert(planOf(df.selectExpr("k", "rowtime")).references.map(_.name).toSet == Set("k", "t"))
  }

  // ---- ResolveStreamOrder ----

  private def sorted(child: LogicalPlan, direction: SortDirection = Ascending) =
    Sort(Seq(SortOrder(time(child), direction)), global = true, child)

  test("a sort by an event time becomes a StreamOrder") {
    ResolveStreamOrder(sorted(inOrder)) match {
      case o: StreamOrder =>
        assert(o.time.semanticEquals(time(inOrder)) && o.child.children == Seq(inOrder))
      case other => fail(other.toString)
    }
  }

  test("what Spark knows of the rows of a batch does not hold for buffered rows") {
    val one = Filter(IsNotNull(inOrder.output.head), LocalRelation(inOrder.output))
    assert(one.constraints.nonEmpty && one.maxRows.contains(0L))
    val order = ResolveStreamOrder(sorted(inOrder)).withNewChildren(Seq(one))
    assert(order.constraints.isEmpty && order.maxRows.isEmpty)
  }

  test("another sort of a stream is refused, and a sort of a table is left to Spark") {
    val ofTable = sorted(table(inOrder))
    assert(ResolveStreamOrder(ofTable) == ofTable)
    ResolveStreamOrder.Check(ofTable)
    for (sort <- Seq(sorted(inOrder, Descending), sorted(plain))) {
      assert(ResolveStreamOrder(sort) == sort)
      assert(refusal(ResolveStreamOrder.Check(sort)).getCondition ==
        "STREAM_JOIN.UNSUPPORTED_ORDER")
    }
  }

  private def refusedOrder(query: => Any): String = {
    val e = refusal(query)
    assert(e.getCondition == "STREAM_JOIN.UNSUPPORTED_ORDER")
    e.getMessage
  }

  test("the refusal of a sort suggests an unambiguous event time that is accepted") {
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
      val message = refusedOrder(session.sql(s"$query ORDER BY a.k"))
      assert(message.contains(s"ORDER BY $written, ..."))
      assert(analyzed(s"$query ORDER BY $written, a.k").exists(_.isInstanceOf[StreamOrder]))
    }
  }

  test("a sort by an ambiguous name gives the same error for streams as for tables") {
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

  test("the refusal of a sort by a column without a watermark suggests an order on it") {
    val times = stream("timestamp AS t", "value AS n", "CAST(timestamp AS DATE) AS d")
    for (
      (column, advice) <- Seq(
        "t" -> """imposeOrder("t", "1 minute"), and sort by it first""",
        "d" -> """imposeOrder("d", "1 day"), and sort by it first""",
        "n" -> ("If it increases with time, impose an order on it below, as in " +
          """df.imposeOrder("n", 100). Or""")
      )
    )
      assert(refusedOrder(times.orderBy(column)).contains(advice))
  }

  test("an operator that does not keep the order is refused above it") {
    val order = ResolveStreamOrder(sorted(inOrder))
    for (above <- Seq(Repartition(2, shuffle = true, order), Distinct(order))) {
      val refused = refusal(ResolveStreamOrder.Check(above))
      assert(refused.getMessage.contains("does not keep the order"))
    }
    ResolveStreamOrder.Check(Repartition(1, shuffle = false, order))
    ResolveStreamOrder.Check(Filter(Literal.TrueLiteral, order))
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

  test("a common table expression with an event time is inlined at each reference") {
    val inlined = InlineOrderedCTE(readTwice(inOrder))
    assert(!inlined.exists(p => p.isInstanceOf[WithCTE] || p.isInstanceOf[CTERelationRef]))
    assert(inlined.collect { case o: ImposeOrder => o }.length == 2)
  }

  test("a common table expression without an event time is left to Spark") {
    for (query <- Seq(plain, table(inOrder))) {
      val plan = readTwice(query)
      assert(InlineOrderedCTE(plan) == plan)
    }
  }
}
