package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import java.util.UUID

import scala.util.{Success, Try}

import org.apache.spark.sql.{functions, AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.analysis.{
  AnalysisContext,
  UnresolvedAttribute,
  UnresolvedRelation
}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  ChangelogJoin,
  ImposeOrder,
  JoinNode,
  StreamJoinHint
}
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinOptions
import org.apache.spark.sql.streamjoin.logical.resolve.analyzer.CheckJoinHints
import org.apache.spark.sql.streamjoin.logical.resolve.changelog.Changelogs
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * [[Changelogs]], [[CheckBeforeSpark]], [[CheckJoinHints]], [[CheckOutputMode]],
 * [[CheckSecondWatermark]], [[CheckWatermarkGroups]] and [[RefuseWindowsInConditions]], each on its
 * own. A plan that they accept remains unchanged.
 */
class WholeQueryChecksSuite extends AnalysisSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    stream("value AS id", "'insert' AS op").createOrReplaceTempView("raw")
  }

  private def one(time: String): LogicalPlan =
    planOf(ordered(stream("value AS k", s"timestamp AS $time"), time))

  private lazy val (left, right) = (one("t"), one("bt"))

  private def column(plan: LogicalPlan, name: String) = plan.output.find(_.name == name).get

  private def accepted(check: => Unit): Unit = assert(Try(check) == Success(()))

  private def refused(check: => Unit, condition: String): Unit =
    assert(refusal(check).getCondition == s"STREAM_JOIN.$condition")

  test("CheckBeforeSpark checks only resolved whole queries") {
    var checked = Seq.empty[LogicalPlan]
    val rule = new CheckBeforeSpark(Seq(plan => checked :+= plan))
    assert(rule(left) == left && checked == Seq(left))
    rule(UnresolvedRelation(Seq("t")))
    AnalysisContext.withOuterPlan(right)(rule(left))
    assert(checked.length == 1)
  }

  test("CheckJoinHints accepts a hint on the left input of a stream join or of a whole plan") {
    val hint = StreamJoinHint(JoinOptions(retention = Some("1 hour")), held = false, left)
    accepted(CheckJoinHints(hint))
    refused(CheckJoinHints(Filter(Literal.TrueLiteral, hint)), "INVALID_OPTION")
    def join(a: LogicalPlan, b: LogicalPlan) = Join(a, b, Inner, None, JoinHint.NONE)
    accepted(CheckJoinHints(join(hint, right)))
    refused(CheckJoinHints(join(right, hint)), "INVALID_OPTION")
    refused(CheckJoinHints(join(hint, LocalRelation(right.output))), "STATIC_INPUT")
  }

  private lazy val both: LogicalPlan = planOf(
    joined(
      ordered(stream("value AS k", "timestamp AS t"), "t"),
      ordered(stream("value AS bk", "timestamp AS bt"), "bt"),
      "k = bk AND bt BETWEEN t AND t + INTERVAL '1' HOUR"
    )
  )

  private lazy val asOf: LogicalPlan = {
    ordered(stream("value AS k", "timestamp AS t"), "t").createOrReplaceTempView("trades")
    ordered(stream("value AS k", "timestamp AS t"), "t").createOrReplaceTempView("quotes")
    analyzed("SELECT * FROM trades AS t JOIN quotes OVER (ROWS 1 PRECEDING) AS q ON t.k = q.k")
  }

  private def written(query: LogicalPlan, mode: OutputMode): LogicalPlan =
    WriteToStream("q", None, "checkpoint", null, mode, false, query, None, None)

  test("a join above an aggregation is refused in update mode and accepted in append mode") {
    for (query <- Seq(both, asOf)) {
      val aboveGroups = query.transform { case j: JoinNode =>
        j.withNewChildren(Seq(Distinct(j.left), j.right))
      }
      refused(CheckOutputMode(written(aboveGroups, OutputMode.Update())), "UNSUPPORTED_OUTPUT_MODE")
      accepted(CheckOutputMode(written(aboveGroups, OutputMode.Append())))
      accepted(CheckOutputMode(written(query, OutputMode.Update())))
    }
  }

  test("_change_type must reach the sink of a changelog, or the sums above it") {
    val changes = analyzed(
      "SELECT * FROM FROM_CHANGELOG(TABLE(raw), op => DESCRIPTOR(op), key => DESCRIPTOR(id))"
    )
    def checked(query: LogicalPlan): Unit = Changelogs(written(query, OutputMode.Append()))
    accepted(checked(changes))
    accepted(checked(left))
    accepted(checked(Filter(GreaterThan(column(changes, "id"), Literal(1L)), changes)))
    val seen = Alias(Sum(column(changes, "id")).toAggregateExpression(), "s")()
    val last = Seq[LogicalPlan => LogicalPlan](
      Repartition(1, shuffle = false, _),
      RepartitionByExpression(Seq(column(changes, "id")), _, 3),
      RebalancePartitions(Nil, _),
      CollectMetrics("seen", Seq(seen), _, 0L)
    )
    last.foreach(how => accepted(checked(how(changes))))
    accepted(checked(last.foldLeft(changes)((plan, how) => how(plan))))
    for (how <- last) {
      refused(checked(Project(changes.output, how(changes))), "UNSUPPORTED_CHANGELOG")
      refused(
        checked(how(Project(Seq(column(changes, "id")), changes))),
        "CHANGE_TYPE_DROPPED"
      )
    }
    refused(checked(Project(Seq(column(changes, "id")), changes)), "CHANGE_TYPE_DROPPED")
    refused(checked(Distinct(changes)), "UNSUPPORTED_CHANGELOG")
    val sum = Alias(Sum(column(changes, "id")).toAggregateExpression(), "s")()
    refused(checked(Aggregate(Nil, Seq(sum), changes)), "UNSUPPORTED_CHANGELOG")
    val sign =
      Alias(If(EqualTo(changes.output.last, Literal("delete")), Literal(-1), Literal(1)), "sign")()
    for (kept <- Seq(Seq(column(changes, "id")), changes.output)) {
      val signed = Project(kept :+ sign, changes)
      val signs = Alias(Sum(sign.toAttribute).toAggregateExpression(), "n")()
      val group = column(changes, "id")
      val sums = Aggregate(Seq(group), Seq(group, signs), signed)
      accepted(checked(sums))
      accepted(checked(Project(Seq(group, signs.toAttribute), SubqueryAlias("s", sums))))
      // a filter on a sum can drop a later row of a group that it has accepted; a filter on a group
      // key cannot
      for ((by, isFixed) <- Seq(group -> true, signs.toAttribute -> false)) {
        val some = Filter(GreaterThan(by, Literal(1L)), SubqueryAlias("s", sums))
        accepted(checked(some))
        def inUpdateMode(): Unit = Changelogs(written(some, OutputMode.Update()))
        if (isFixed) accepted(inUpdateMode()) else refused(inUpdateMode(), "UNSUPPORTED_CHANGELOG")
      }
    }
    refused(
      checked(Aggregate(Nil, Seq(sum), Project(Seq(column(changes, "id")), changes))),
      "CHANGE_TYPE_DROPPED"
    )
    // a plan without a sink may still become a part of another query
    accepted(Changelogs(Project(Seq(column(changes, "id")), changes)))
  }

  test("aliases, pipe syntax and Spark's join hints are accepted above changes") {
    session.sql(
      "SELECT *, id % 3 AS n FROM FROM_CHANGELOG(TABLE(raw), op => DESCRIPTOR(op), key => DESCRIPTOR(id))"
    ).createOrReplaceTempView("changes")
    val on = "changes AS b ON a.id = b.n"
    for (
      text <- Seq(
        s"FROM changes |> WHERE id > 0 |> AS a |> LEFT JOIN $on |> WHERE a.n > 0 |> SELECT a.id, b.n, _change_type",
        s"SELECT a.id, b.n, _change_type FROM (FROM changes |> WHERE id > 0) AS a FULL JOIN $on",
        s"SELECT /*+ BROADCAST(b) */ a.id, b.n, _change_type FROM changes AS a JOIN $on",
        s"SELECT /*+ MERGE(a), SHUFFLE_HASH(b) */ a.id, _change_type FROM changes AS a LEFT SEMI JOIN $on",
        s"FROM changes AS a |> JOIN $on |> SELECT a.id, IF(_change_type = 'delete', -1, 1) AS sign |> AGGREGATE sum(sign) GROUP BY id"
      )
    ) {
      val query = analyzed(text)
      assert(query.exists(_.isInstanceOf[ChangelogJoin]), text)
      accepted(Changelogs(written(query, OutputMode.Update())))
    }
    refused(
      Changelogs(written(
        analyzed(s"FROM changes AS a |> JOIN $on |> SELECT a.id, b.n"),
        OutputMode.Update()
      )),
      "CHANGE_TYPE_DROPPED"
    )
  }

  private val joinedChanges =
    "SELECT a.id, a.n, _change_type, _commit_version FROM changes AS a JOIN changes AS b ON a.id = b.n"

  private def checked(text: String, mode: OutputMode = OutputMode.Append()): Unit =
    Changelogs(written(analyzed(text), mode))

  private def views(): Unit =
    for ((view, key) <- Seq("changes" -> ", key => DESCRIPTOR(id)", "counted" -> ""))
      session.sql(
        s"SELECT *, id % 3 AS n FROM FROM_CHANGELOG(TABLE(raw), op => DESCRIPTOR(op)$key)"
      ).createOrReplaceTempView(view)

  test("a generator or UNPIVOT above changes is refused with what to write instead") {
    views()
    def exploded(from: String) =
      s"SELECT w.id, v, _change_type FROM ($from) AS w LATERAL VIEW explode(array(n)) e AS v"
    def unpivoted(from: String) = s"SELECT * FROM ($from) UNPIVOT (v FOR c IN (id, n))"
    val signs = "sum(IF(_change_type IN ('insert', 'update_postimage'), 1, -1))"
    for {
      from <- Seq(
        joinedChanges,
        "SELECT * FROM changes",
        "SELECT * FROM counted",
        s"$joinedChanges UNION ALL $joinedChanges"
      )
      (name, made) <- Seq("the generator explode(" -> exploded(from), "UNPIVOT" -> unpivoted(from))
      above <- Seq(
        made,
        s"SELECT v + 1, _change_type FROM ($made) WHERE v > 1",
        s"SELECT v, $signs FROM ($made WHERE v > 1) GROUP BY v"
      )
    } {
      val error = refusal(checked(above, OutputMode.Update()))
      assert(error.getCondition == "STREAM_JOIN.UNSUPPORTED_CHANGELOG", above)
      for (text <- Seq(s"$name", "above changes", "Write this operator below the declaration"))
        assert(error.getMessage.contains(text), above)
      assert(!error.getMessage.contains("Expand"), above)
    }
    // a generator below a declaration is part of the input
    session.sql(
      "SELECT *, id % 3 AS n FROM FROM_CHANGELOG(TABLE(SELECT e AS id, op FROM raw LATERAL VIEW " +
        "explode(array(id)) x AS e), op => DESCRIPTOR(op))"
    ).createOrReplaceTempView("exploded_feed")
    val exploding = joinedChanges.replace("changes", "exploded_feed")
    accepted(checked(exploding))
    accepted(checked(s"SELECT * FROM ($exploding) WHERE _change_type = 'insert'"))
  }

  test("expressions that differ between batches are refused in sums and filters of changes") {
    views()
    val sign = "IF(_change_type IN ('insert', 'update_postimage'), 1, -1)"
    val today = s"SELECT *, current_date() AS day, $sign AS sign"
    for (
      from <- Seq(
        s"$today FROM ($joinedChanges)",
        s"$today FROM counted",
        s"$today FROM changes",
        s"SELECT *, IF(id > 3, day, NULL) AS later FROM ($today FROM ($joinedChanges))",
        s"SELECT *, day AS x FROM ($today FROM ($joinedChanges) UNION ALL $today FROM ($joinedChanges))"
      )
    ) {
      // such a column may be selected, also as the time of a sum
      accepted(checked(from))
      accepted(checked(
        s"SELECT n, sum(sign), current_timestamp() AS made FROM ($from) GROUP BY n",
        OutputMode.Update()
      ))
      for (
        wrong <- Seq(
          s"SELECT day, sum(sign) FROM ($from) GROUP BY day",
          s"SELECT n, sum(sign * day(day)) FROM ($from) GROUP BY n",
          s"SELECT n, sum(sign) FILTER (WHERE day > DATE'2026-01-01') FROM ($from) GROUP BY n",
          s"SELECT n, sum(sign) FROM ($from) GROUP BY CUBE (n, day)",
          s"SELECT n, sum(sign) FROM ($from) WHERE day > DATE'2026-01-01' GROUP BY n",
          s"SELECT n, day, sum(sign) FROM ($from) GROUP BY n, current_date(), day"
        )
      ) refused(checked(wrong, OutputMode.Update()), "UNSUPPORTED_CHANGELOG")
      refused(
        checked(s"SELECT * FROM ($from) WHERE day > DATE'2026-01-01'"),
        "UNSUPPORTED_CHANGELOG"
      )
      val keyed = session.sql(from)
      assert(PythonCalls.toUpserts(keyed, java.util.List.of("id")).isStreaming)
      refused(PythonCalls.toUpserts(keyed, java.util.List.of("id", "day")), "INVALID_CHANGELOG")
    }
    for (
      by <- Seq(
        "rand()",
        "uuid()",
        "now()",
        "spark_partition_id()",
        "input_file_name()",
        "localtimestamp()"
      )
    ) {
      val error = refusal(checked(
        s"SELECT $by AS x, sum($sign) FROM ($joinedChanges) GROUP BY 1",
        OutputMode.Update()
      ))
      assert(
        error.getMessage.toLowerCase.contains(s"depend on $by, which differs between batches"),
        error.getMessage
      )
    }
    // below a declaration with a key, the value is stored with the row, and a delete retracts it
    PythonCalls.fromChangelog(
      stream("value AS id", "current_date() AS day", "'insert' AS op"),
      java.util.List.of("id"),
      "op",
      java.util.Map.of(),
      "id"
    ).createOrReplaceTempView("dated")
    accepted(checked(s"SELECT day, sum($sign) FROM dated GROUP BY day", OutputMode.Update()))
    PythonCalls.fromChangelog(
      stream("value AS id", "current_date() AS day", "'insert' AS op"),
      java.util.List.of(),
      "op",
      java.util.Map.of(),
      null
    ).createOrReplaceTempView("dated")
    refused(
      checked(s"SELECT day, sum($sign) FROM dated GROUP BY day", OutputMode.Update()),
      "UNSUPPORTED_CHANGELOG"
    )
    // without a key, the filter may accept one image of an update and reject the other
    def younger(key: String) = s"SELECT id, sum($sign) FROM FROM_CHANGELOG(TABLE(" +
      s"SELECT * FROM raw WHERE id > day(current_date())), op => DESCRIPTOR(op)$key) GROUP BY id"
    accepted(checked(younger(", key => DESCRIPTOR(id)"), OutputMode.Update()))
    refused(checked(younger(""), OutputMode.Update()), "UNSUPPORTED_CHANGELOG")
  }

  test("the refusal names an unsupported operator above a changelog as the query wrote it") {
    views()
    val query = session.sql(joinedChanges)
    for (
      (operator, df) <- Seq(
        "DISTINCT above" -> session.sql(s"SELECT DISTINCT n, _change_type FROM ($joinedChanges)"),
        "DISTINCT above" -> session.sql(s"$joinedChanges UNION $joinedChanges"),
        "LATERAL above" -> session.sql(
          s"SELECT * FROM ($joinedChanges) AS c, LATERAL (SELECT c.n + 1 AS m)"
        ),
        "withWatermark above" -> query.selectExpr("*", "timestamp_seconds(id) AS t")
          .withWatermark("t", "1 hour"),
        "dropDuplicates above" -> query.dropDuplicates("id"),
        "dropDuplicatesWithinWatermark above" -> query.dropDuplicatesWithinWatermark("id"),
        "LIMIT above" -> query.limit(3),
        "OFFSET above" -> query.offset(3),
        "a sample (TABLESAMPLE) above" -> query.sample(0.5),
        "EXCEPT above" -> query.except(query),
        "INTERSECT above" -> query.intersectAll(query),
        "the window function row_number() OVER" -> session.sql(
          s"SELECT *, row_number() OVER (PARTITION BY n ORDER BY id) AS k FROM ($joinedChanges)"
        )
      );
      mode <- Seq("append", "update")
    ) {
      val error = refusal(df.writeStream.outputMode(mode).format("noop").start())
      assert(error.getCondition == "STREAM_JOIN.UNSUPPORTED_CHANGELOG", operator)
      assert(error.getMessage.contains(operator), error.getMessage)
    }
    refused(query.orderBy("id").writeStream.format("noop").start(), "UNSUPPORTED_ORDER")
    for (by <- Seq("n", "n, _change_type")) {
      val grouped = session.sql(s"SELECT n FROM ($joinedChanges) GROUP BY $by")
      val error = refusal(grouped.writeStream.outputMode("update").format("noop").start())
      assert(error.getMessage.contains("an aggregation without a sum"), error.getMessage)
    }
    for (mode <- Seq("append", "update")) {
      val pivoted = query.groupBy("n").pivot("id", Seq(1L, 2L)).sum("_commit_version")
      val error = refusal(pivoted.writeStream.outputMode(mode).format("noop").start())
      assert(error.getMessage.contains("counts a delete like an insert"), mode)
    }
    val sums = "sum(IF(_change_type IN ('insert', 'update_postimage'), 1, -1))"
    refused(
      query.groupBy("id").agg(functions.expr(sums)).writeStream.format("noop").start(),
      "UNSUPPORTED_CHANGELOG"
    )
    session.sql(
      "SELECT id, timestamp_seconds(id) AS t, _change_type FROM changes"
    ).createOrReplaceTempView("timed")
    accepted(checked(
      s"SELECT window(t, '2 hours', '1 hour') AS w, $sums FROM timed GROUP BY 1",
      OutputMode.Complete()
    ))
    // the delete of a row cannot split the session that the row has merged
    refused(
      checked(
        s"SELECT session_window(t, '1 hour') AS w, $sums FROM timed GROUP BY 1",
        OutputMode.Complete()
      ),
      "UNSUPPORTED_CHANGELOG"
    )
    refused(
      session.sql(s"SELECT DISTINCT n FROM ($joinedChanges)").writeStream.format("noop").start(),
      "CHANGE_TYPE_DROPPED"
    )
  }

  test("changes in complete mode, and sums above toUpserts, are refused") {
    session.sql("SELECT * FROM FROM_CHANGELOG(TABLE(raw), op => DESCRIPTOR(op))")
      .createOrReplaceTempView("changes")
    val joined = session.sql(
      "SELECT a.id, _change_type FROM changes AS a JOIN (SELECT count(*) AS n FROM raw GROUP BY op) AS b ON a.id = b.n"
    )
    accepted(Changelogs(written(planOf(joined), OutputMode.Update())))
    refused(
      Changelogs(written(planOf(joined), OutputMode.Complete())),
      "UNSUPPORTED_CHANGELOG"
    )
    val sums = Seq("id", "sum(IF(_change_type = 'delete', -1, 1)) AS n")
    def summed(changes: DataFrame) =
      planOf(changes.groupBy(sums.head).agg(functions.expr(sums.last)))
    accepted(Changelogs(written(summed(joined), OutputMode.Complete())))
    joined.selectExpr("id", "id % 2 AS k", "IF(_change_type = 'delete', -1, 1) AS sign")
      .createOrReplaceTempView("signed")
    accepted(Changelogs(written(
      analyzed("SELECT id, k, sum(sign) FROM signed GROUP BY ROLLUP (k, id)"),
      OutputMode.Update()
    )))
    refused(
      Changelogs(written(
        analyzed("SELECT id, k, count(sign) FROM signed GROUP BY CUBE (k, id)"),
        OutputMode.Update()
      )),
      "UNSUPPORTED_CHANGELOG"
    )
    val upserts = PythonCalls.toUpserts(joined, java.util.List.of("id"))
    for (of <- Seq(upserts, upserts.where("id > 3")))
      refused(Changelogs(written(summed(of), OutputMode.Update())), "UNSUPPORTED_CHANGELOG")
  }

  test("CheckSecondWatermark refuses a watermark above an order or a join") {
    def watermarked(plan: LogicalPlan) = EventTimeWatermark(
      UUID.randomUUID(),
      column(plan, "t"),
      new CalendarInterval(0, 0, 1000000L),
      plan
    )
    refused(CheckSecondWatermark(watermarked(left)), "SECOND_WATERMARK")
    refused(CheckSecondWatermark(watermarked(both)), "SECOND_WATERMARK")
    accepted(CheckSecondWatermark(watermarked(planOf(stream("value AS k", "timestamp AS t")))))
    accepted(CheckSecondWatermark(left))
  }

  test("CheckWatermarkGroups refuses an order with groups that no join and no order uses") {
    def grouped(plan: LogicalPlan) =
      plan.transform { case o: ImposeOrder => o.copy(per = Seq(o.output.head)) }
    def checked(query: LogicalPlan): Unit =
      CheckWatermarkGroups(written(query, OutputMode.Append()))
    refused(checked(grouped(left)), "UNUSED_WATERMARK_GROUPS")
    accepted(checked(left))
    accepted(checked(grouped(both)))
    accepted(CheckWatermarkGroups(grouped(left)))
  }

  test("RefuseWindowsInConditions refuses a window in a join condition") {
    def window(plan: LogicalPlan, name: String) =
      TimeWindow(column(plan, name), 1000000L, 1000000L, 0L)
    def join(condition: Expression) = Join(left, right, Inner, Some(condition), JoinHint.NONE)
    val windows = join(EqualTo(window(left, "t"), window(right, "bt")))
    refused(RefuseWindowsInConditions(windows), "UNSUPPORTED_CONDITION")
    // a node above that is unresolved, or never will be, does not delay the error
    val unknown = UnresolvedAttribute("nothing")
    refused(RefuseWindowsInConditions(Project(Seq(unknown), windows)), "UNSUPPORTED_CONDITION")
    val plain = join(EqualTo(column(left, "k"), column(right, "k")))
    assert(RefuseWindowsInConditions(plain) == plain)
    val open = join(EqualTo(window(left, "t"), unknown))
    assert(RefuseWindowsInConditions(open) == open)
  }

  test("a window in a join condition is reported before an error of Spark above the join") {
    for (view <- Seq("o", "d"))
      ordered(stream("value AS k", "timestamp AS t"), "t").createOrReplaceTempView(view)
    def query(on: String) = s"SELECT nothing FROM o JOIN d ON $on"
    refused(
      analyzed(query("window(o.t, '1 hour') = window(d.t, '1 hour')")),
      "UNSUPPORTED_CONDITION"
    )
    val other = intercept[AnalysisException](analyzed(query("o.k = d.k AND o.t = d.t")))
    assert(other.getCondition.startsWith("UNRESOLVED_COLUMN"))
  }
}
