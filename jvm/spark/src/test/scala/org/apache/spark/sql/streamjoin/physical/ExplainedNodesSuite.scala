package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.{classic, DataFrame}
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{FormattedMode, LocalTableScanExec, SimpleMode, SparkPlan}
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  AsOfJoin,
  ChangelogJoin,
  StreamJoin,
  StreamOrder
}
import org.apache.spark.sql.streamjoin.physical.asof.{AsOfJoinExec, AsOfSpec}
import org.apache.spark.sql.streamjoin.physical.changelog.PlanChangelogJoin
import org.apache.spark.sql.streamjoin.physical.ordered.{OrderSpec, StreamOrderExec}
import org.apache.spark.sql.streamjoin.physical.stateful.operator.BatchInfo
import org.apache.spark.sql.streamjoin.run.RunScope

import io.streamjoin.PythonApi

/** The line of each operator in `explain` and on the SQL page, with the names of the query. */
class ExplainedNodesSuite extends AnalysisSession {

  // columns of the source: computed columns keep their alias anyway
  private lazy val o = ordered(stream("value", "timestamp"), "timestamp").as("o")

  private lazy val d = ordered(stream("value", "timestamp"), "timestamp", "90 seconds").as("d")

  private val WithinTheHour =
    "o.value = d.value AND d.timestamp BETWEEN o.timestamp AND o.timestamp + INTERVAL '1' HOUR"

  /**
   * The plan of a batch over files, as Spark creates it: it replaces the columns with new ones that
   * have no alias.
   */
  private def ofABatch(df: DataFrame): LogicalPlan = {
    val plan = planOf(df)
    val others = plan.collectLeaves().flatMap(_.output).map { a =>
      a.exprId -> a.newInstance().withQualifier(Nil)
    }.toMap
    plan.transformAllExpressions { case a: AttributeReference =>
      others.get(
        a.exprId
      ).fold[Expression](a)(_.withMetadata(a.metadata).withNullability(a.nullable))
    }
  }

  private def optimized(df: DataFrame): LogicalPlan =
    session.sessionState.optimizer.execute(planOf(df))

  private def exec(plan: LogicalPlan): SparkPlan = {
    def scan(p: LogicalPlan): SparkPlan = LocalTableScanExec(p.output, Nil, None)
    plan.collectFirst {
      case s: StreamOrder =>
        new StreamOrderExec(scan(s.child), BatchInfo(), OrderSpec.of(s)): SparkPlan
      case j: AsOfJoin =>
        new AsOfJoinExec(scan(j.left), scan(j.right), BatchInfo(), AsOfSpec.of(j))
      case j: ChangelogJoin => PlanChangelogJoin(j, j.outputSet, scan)
      case j: StreamJoin    => StreamJoinStrategy(session)(j).head
    }.get
  }

  /** The line of a query, which must be the same before the start and in each batch. */
  private def line(df: DataFrame): String = {
    val lines = Seq(planOf(df), ofABatch(df)).map(exec(_).simpleString(25))
    assert(lines.distinct.length == 1, lines)
    lines.head
  }

  private def changes(alias: String): DataFrame = PythonCalls.fromUpserts(
    stream("value AS id", "value AS seq"),
    java.util.List.of("id"),
    "seq",
    null
  ).as(alias)

  private def bounds(on: String, how: String = "left"): String =
    line(joined(o, d, on, how)).split(", ", 2).last

  private def text(df: DataFrame, formatted: Boolean): String =
    df.asInstanceOf[classic.DataFrame].queryExecution
      .explainString(if (formatted) FormattedMode else SimpleMode)

  test("a join shows its partitioning and bounds") {
    assert(line(joined(o, d, WithinTheHour, "left")) ==
      "StreamJoin LEFT OUTER, hash by [o.value] = [d.value], d.timestamp from o.timestamp to o.timestamp + 1 hour")
  }

  test("a join combines the bounds of two times and shows the tightest ones") {
    def of(bound: String) = bounds(s"o.value = d.value AND $bound")
    val key = "hash by [o.value] = [d.value], "
    assert(of("d.timestamp = o.timestamp").endsWith("], d.timestamp = o.timestamp"))
    assert(
      of(
        "o.timestamp BETWEEN d.timestamp - INTERVAL '5' MINUTE AND d.timestamp + INTERVAL '90' SECOND"
      ) ==
        s"${key}d.timestamp from o.timestamp - 1 minute 30 seconds to o.timestamp + 5 minutes"
    )
    assert(
      of(
        "d.timestamp BETWEEN o.timestamp AND o.timestamp + INTERVAL '1' HOUR AND d.timestamp <= o.timestamp + INTERVAL '2' HOUR"
      ) ==
        s"${key}d.timestamp from o.timestamp to o.timestamp + 1 hour"
    )
    assert(
      of("d.timestamp > o.timestamp AND d.timestamp < o.timestamp + INTERVAL '1' HOUR") ==
        s"${key}d.timestamp from o.timestamp + 0.000001 seconds to o.timestamp + 59 minutes 59.999999 seconds"
    )
  }

  test("a join shows one-directional bounds by columns of a row separately") {
    def numbered(column: String, columns: String*) = PythonCalls.imposeOrder(
      stream("value AS id" +: columns: _*),
      column,
      java.util.Map.of("lag", Long.box(5L))
    )
    val a = numbered("start", "value AS start", "value + 9 AS end").as("a")
    val b = numbered("at", "value AS at").as("b")
    val on = "a.id = b.id AND b.at BETWEEN a.start AND a.end"
    assert(line(joined(a, b, on)) ==
      "StreamJoin INNER, hash by [a.id] = [b.id], b.at >= a.start and b.at <= a.end")
  }

  test("a join with contradictory bounds shows that no two rows can match") {
    assert(bounds(
      "o.value = d.value AND d.timestamp > o.timestamp AND d.timestamp < o.timestamp",
      "inner"
    ) ==
      "hash by [o.value] = [d.value], no two rows can match")
    assert(bounds("d.timestamp > o.timestamp AND d.timestamp < o.timestamp", "inner") ==
      "no two rows can match: each is sent to one partition")
  }

  test("the description of the condition keeps the aliases in each batch") {
    for (plan <- Seq(planOf(_: DataFrame), ofABatch(_: DataFrame))) {
      val join = exec(plan(joined(o, d, s"$WithinTheHour AND o.value + d.value > 3")))
      val explained = join.verboseStringWithOperatorId()
      assert(explained.contains("condition (o.value = d.value): equality"), explained)
      assert(
        explained.contains(
          "condition (d.timestamp >= o.timestamp): bound d.timestamp >= o.timestamp"
        ),
        explained
      )
      assert(explained.contains("condition ((o.value + d.value) > "), explained)
    }
  }

  test("an as-of join shows the matching rule, the maximum age and the residual condition") {
    def asOf(on: String, how: String = "inner") =
      PythonApi.streamJoin(o, d, on, how, java.util.Map.of("match", "last"))
    val meets =
      "each row of o is joined with the last row of d with d.value = o.value and d.timestamp <= " +
        "o.timestamp"
    assert(line(asOf("o.value = d.value AND d.timestamp >= o.timestamp - INTERVAL '10' MINUTE")) ==
      s"AsOfJoin INNER, $meets, none older than o.timestamp - 10 minutes")
    assert(line(asOf("o.value = d.value", "left")) ==
      s"AsOfJoin LEFT OUTER, $meets; the last row of each key is stored without limit")
    val explained =
      exec(optimized(asOf(
        "o.value = d.value AND d.timestamp >= o.timestamp - INTERVAL '10' MINUTE AND d.value > o.value"
      )))
        .verboseStringWithOperatorId()
    assert(
      explained.contains(
        "condition (d.timestamp >= o.timestamp + INTERVAL '-10' MINUTE): maximum age of the " +
          "last row"
      )
    )
    assert(
      explained.contains("condition (d.value > o.value): evaluated on the last row"),
      explained
    )
    assert(
      explained.contains(
        "a row is emitted when the watermarks of o.timestamp and d.timestamp have passed " +
          "o.timestamp"
      ),
      explained
    )
  }

  test("a changelog join shows its inputs by the aliases of the query") {
    val join = joined(stream("value").as("o"), changes("c"), "o.value = c.id", "left")
    assert(line(join) == "ChangelogJoin LEFT OUTER, hash by o.value = c.id")
    for (plan <- Seq(planOf(join), ofABatch(join))) {
      val explained = exec(plan).verboseStringWithOperatorId()
      assert(explained.contains("rows of c are identified by key id"), explained)
      assert(
        explained.contains("a row of o is stored until it is deleted: without limit"),
        explained
      )
    }
  }

  test("the display name of a chain's input is its own alias, not that of a column") {
    val first = joined(stream("value").as("o"), changes("c"), "o.value = c.id")
    def explained(left: DataFrame, on: String) =
      for (plan <- Seq(planOf(_: DataFrame), ofABatch(_: DataFrame)))
        yield exec(plan(joined(left, changes("e"), on))).verboseStringWithOperatorId()
    for (text <- explained(first, "o.value = e.id")) {
      assert(text.contains("a row of the left input is stored"), text)
      assert(text.contains("a row of e is stored"), text)
    }
    for (text <- explained(first.as("w"), "w.value = e.id"))
      assert(text.contains("a row of w is stored"), text)
  }

  test("an order shows its sort columns, and rowtime as an expression in words") {
    val join = joined(o, d, WithinTheHour, "left")
    assert(
      line(join.orderBy("rowtime")) ==
        "StreamOrder by the later of o.timestamp and d.timestamp, or o.timestamp + 1 hour where d.timestamp is NULL"
    )
    val inner = joined(o, d, WithinTheHour)
    assert(
      line(inner.orderBy("rowtime")) == "StreamOrder by the later of o.timestamp and d.timestamp"
    )
    assert(line(inner.sort(
      inner("d.timestamp"),
      inner("o.value").desc
    )) == "StreamOrder by d.timestamp, o.value DESC")
    assert(line(
      inner.sortWithinPartitions("d.timestamp")
    ) == "StreamOrder by d.timestamp; in each partition")
    val explained = exec(planOf(join.orderBy("rowtime"))).verboseStringWithOperatorId()
    assert(explained.contains("buffered until the watermark of rowtime has reached it"), explained)
  }

  test("a formatted plan has an empty line before each node") {
    val explained = text(joined(o, d, WithinTheHour, "left"), formatted = true).linesIterator.toSeq
    val nodes = explained.indices.filter(explained(_).matches("\\(\\d+\\) \\w+.*"))
    assert(nodes.exists(explained(_).contains("StreamJoin")))
    for (i <- nodes) assert(explained(i - 1).isEmpty, explained(i))
  }

  test("explain shows no UUID and no Long.MaxValue") {
    val ahead = PythonCalls.imposeOrder(
      stream("value", "timestamp"),
      "timestamp",
      java.util.Map.of("lag", "1 minute", "max_ahead", "1 hour")
    ).as("d")
    for {
      right <- Seq(d, ahead)
      formatted <- Seq(false, true)
      explained = text(joined(o, right, WithinTheHour, "left"), formatted)
    } {
      assert(explained.contains("EventTimeWatermark"), explained)
      assert(explained.contains("latest timestamp - 1 minute, of Spark's operators"), explained)
      assert("[0-9a-f]{8}-[0-9a-f]{4}".r.findFirstIn(explained).isEmpty, explained)
      assert(!explained.contains(Long.MaxValue.toString), explained)
    }
  }

  test("explain leaves no run scope behind") {
    val before = RunScope.runs
    val withoutEquality = WithinTheHour.replace("o.value = d.value AND ", "")
    val filtered =
      joined(stream("value").as("o"), changes("c"), "o.value = c.id").where("value > 5")
    val first = joined(changes("a"), changes("b"), "a.id = b.id")
      .selectExpr("a.id AS x", "_change_type").as("f")
    val chain = joined(first, changes("c"), "f.x = c.id")
    for (df <- Seq(joined(o, d, WithinTheHour), joined(o, d, withoutEquality), filtered, chain))
      text(df, formatted = false)
    assert(RunScope.runs == before)
  }
}
