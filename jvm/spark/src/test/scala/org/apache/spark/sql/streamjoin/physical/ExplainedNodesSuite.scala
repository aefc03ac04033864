package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.{classic, DataFrame}
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{FormattedMode, LocalTableScanExec, SimpleMode, SparkPlan}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.logical.plan.{
  AsOfJoin,
  ChangelogJoin,
  StreamJoin,
  StreamOrder
}
import org.apache.spark.sql.streamjoin.physical.asof.{AsOfJoinExec, AsOfSpec}
import org.apache.spark.sql.streamjoin.physical.changelog.PlanChangelogJoin
import org.apache.spark.sql.streamjoin.physical.ordered.{OrderSpec, StreamOrderExec}
import org.apache.spark.sql.streamjoin.physical.stateful.BatchInfo
import org.apache.spark.sql.streamjoin.run.RunScope

import io.streamjoin.PythonApi

/** The line of each operator, as `explain` and the SQL page show it: in the words of the query. */
class ExplainedNodesSuite extends AnalysisSession {

  // columns of the source itself: what is computed keeps its alias anyway
  private lazy val o = ordered(stream("value", "timestamp"), "timestamp").as("o")

  private lazy val d = ordered(stream("value", "timestamp"), "timestamp", "90 seconds").as("d")

  private val WithinTheHour =
    "o.value = d.value AND d.timestamp BETWEEN o.timestamp AND o.timestamp + INTERVAL '1' HOUR"

  /**
   * As Spark puts the plan of a batch in the place of that of a query over files: with other columns, of which
   * none has an alias.
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

  /** The line is the same when the query is written and in each of its batches. */
  private def line(df: DataFrame): String = {
    val lines = Seq(planOf(df), ofABatch(df)).map(exec(_).simpleString(25))
    assert(lines.distinct.length == 1, lines)
    lines.head
  }

  private def changes(alias: String): DataFrame = PythonApi.fromUpserts(
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

  test("a join says how rows meet, and its bounds") {
    assert(line(joined(o, d, WithinTheHour, "left")) ==
      "StreamJoin LEFT OUTER, hash by [o.value] = [d.value], d.timestamp from o.timestamp to o.timestamp + 1 hour")
  }

  test("bounds of two times are said together, the tightest of them") {
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

  test("a row's own bound, and one in one direction") {
    def numbered(column: String, columns: String*) = PythonApi.imposeOrder(
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

  test("no rows can match") {
    assert(bounds(
      "o.value = d.value AND d.timestamp > o.timestamp AND d.timestamp < o.timestamp",
      "inner"
    ) ==
      "hash by [o.value] = [d.value], no two rows can match")
    assert(bounds("d.timestamp > o.timestamp AND d.timestamp < o.timestamp", "inner") ==
      "no two rows can match: each is sent to one partition")
  }

  test("what is said of the parts of the condition keeps the aliases in each batch") {
    for (plan <- Seq(planOf(_: DataFrame), ofABatch(_: DataFrame))) {
      val join = exec(plan(joined(o, d, s"$WithinTheHour AND o.value + d.value > 3")))
      val said = join.verboseStringWithOperatorId()
      assert(said.contains("condition (o.value = d.value): equality"), said)
      assert(
        said.contains("condition (d.timestamp >= o.timestamp): bound d.timestamp >= o.timestamp"),
        said
      )
      assert(said.contains("condition ((o.value + d.value) > "), said)
    }
  }

  test("an as-of join says which rows meet") {
    def asOf(on: String, how: String = "inner") =
      PythonApi.streamJoin(o, d, on, how, java.util.Map.of("match", "last"))
    val meets =
      "each row of o is joined with the last row of d with d.value = o.value and d.timestamp <= " +
        "o.timestamp"
    assert(line(asOf("o.value = d.value AND d.timestamp >= o.timestamp - INTERVAL '10' MINUTE")) ==
      s"AsOfJoin INNER, $meets, none older than o.timestamp - 10 minutes")
    assert(line(asOf("o.value = d.value", "left")) ==
      s"AsOfJoin LEFT OUTER, $meets; the last row of each key is stored without limit")
    val said =
      exec(optimized(asOf(
        "o.value = d.value AND d.timestamp >= o.timestamp - INTERVAL '10' MINUTE AND d.value > o.value"
      )))
        .verboseStringWithOperatorId()
    assert(
      said.contains(
        "condition (d.timestamp >= o.timestamp + INTERVAL '-10' MINUTE): maximum age of the " +
          "last row"
      )
    )
    assert(said.contains("condition (d.value > o.value): evaluated on the last row"), said)
    assert(
      said.contains(
        "a row is emitted when the watermarks of o.timestamp and d.timestamp have passed " +
          "o.timestamp"
      ),
      said
    )
  }

  test("a changelog join calls its inputs as the query does") {
    val join = joined(stream("value").as("o"), changes("c"), "o.value = c.id", "left")
    assert(line(join) == "ChangelogJoin LEFT OUTER, hash by o.value = c.id")
    for (plan <- Seq(planOf(join), ofABatch(join))) {
      val said = exec(plan).verboseStringWithOperatorId()
      assert(said.contains("rows of c are identified by key id"), said)
      assert(said.contains("a row of o is stored until it is deleted: without limit"), said)
    }
  }

  test("the input of a chain is not called as one of its columns is, but by an alias of its own") {
    val first = joined(stream("value").as("o"), changes("c"), "o.value = c.id")
    def said(left: DataFrame, on: String) =
      for (plan <- Seq(planOf(_: DataFrame), ofABatch(_: DataFrame)))
        yield exec(plan(joined(left, changes("e"), on))).verboseStringWithOperatorId()
    for (text <- said(first, "o.value = e.id")) {
      assert(text.contains("a row of the left input is stored"), text)
      assert(text.contains("a row of e is stored"), text)
    }
    for (text <- said(first.as("w"), "w.value = e.id"))
      assert(text.contains("a row of w is stored"), text)
  }

  test("an order says by what: a time that nobody wrote, in words") {
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
    val said = exec(planOf(join.orderBy("rowtime"))).verboseStringWithOperatorId()
    assert(said.contains("buffered until the watermark of rowtime has reached it"), said)
  }

  test("an empty line stands before each node of a formatted plan") {
    val said = text(joined(o, d, WithinTheHour, "left"), formatted = true).linesIterator.toSeq
    val nodes = said.indices.filter(said(_).matches("\\(\\d+\\) \\w+.*"))
    assert(nodes.exists(said(_).contains("StreamJoin")))
    for (i <- nodes) assert(said(i - 1).isEmpty, said(i))
  }

  test("no line has an id, or a number that stands for none") {
    val ahead = PythonApi.imposeOrder(
      stream("value", "timestamp"),
      "timestamp",
      java.util.Map.of("lag", "1 minute", "max_ahead", "1 hour")
    ).as("d")
    for {
      right <- Seq(d, ahead)
      formatted <- Seq(false, true)
      said = text(joined(o, right, WithinTheHour, "left"), formatted)
    } {
      assert(said.contains("EventTimeWatermark"), said)
      assert(said.contains("latest timestamp - 1 minute, of Spark's operators"), said)
      assert("[0-9a-f]{8}-[0-9a-f]{4}".r.findFirstIn(said).isEmpty, said)
      assert(!said.contains(Long.MaxValue.toString), said)
    }
  }

  test("explain leaves no scope of a run that never begins") {
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
