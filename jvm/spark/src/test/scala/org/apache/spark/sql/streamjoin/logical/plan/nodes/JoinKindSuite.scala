package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.expressions.{Attribute, EqualTo}
import org.apache.spark.sql.catalyst.plans.{Inner, JoinType, LeftOuter, NaturalJoin}
import org.apache.spark.sql.catalyst.plans.logical.{Join, JoinHint, LocalRelation, LogicalPlan}
import org.apache.spark.sql.streamjoin.{AnalysisSession, StreamJoinConf}
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinOptions

import io.streamjoin.PythonApi
import io.streamjoin.model.BySide

/** Which kind of join the inputs and the options select, and the options that each kind refuses. */
class JoinKindSuite extends AnalysisSession {

  private lazy val plain = planOf(stream("value AS k", "timestamp AS t"))

  private lazy val orders = planOf(ordered(stream("value AS id", "timestamp AS ot"), "ot"))

  private val FromChangelog =
    "SELECT * FROM FROM_CHANGELOG(TABLE(feed), op => DESCRIPTOR(op), key => DESCRIPTOR(id))"

  private lazy val changes = analyzed(FromChangelog)

  override def beforeAll(): Unit = {
    super.beforeAll()
    stream("value AS id", "'insert' AS op").createOrReplaceTempView("feed")
  }

  private def join(
      left: LogicalPlan,
      right: LogicalPlan = plain,
      options: Option[JoinOptions] = None,
      how: JoinType = Inner
  ): Join = {
    def key(plan: LogicalPlan): Attribute = plan.output.head
    val hinted = options.fold(left)(StreamJoinHint(_, held = false, left))
    Join(hinted, right, how, Some(EqualTo(key(left), key(right))), JoinHint.NONE)
  }

  private def table = LocalRelation(orders.output)

  private val last = Some(JoinOptions(last = true))
  private val early = Some(JoinOptions(emit = Some(JoinOptions.Early)))
  private val changelog = Some(JoinOptions(mode = Some(JoinOptions.Changelog)))

  test("the inputs and the options determine the kind of a join") {
    assert(JoinKind.of(join(orders)).contains(JoinKind.EventTime))
    assert(JoinKind.of(join(orders, options = last)).contains(JoinKind.AsOf))
    assert(JoinKind.of(join(orders, LastRows(3, plain))).contains(JoinKind.AsOf))
    assert(JoinKind.of(join(orders, options = changelog)).contains(JoinKind.Changelog))
    assert(JoinKind.of(join(orders, options = early)).contains(JoinKind.Changelog))
    assert(JoinKind.of(join(changes)).contains(JoinKind.Changelog))
    assert(JoinKind.of(join(table, table.newInstance(), last)).contains(JoinKind.AsOf))
    assert(
      JoinKind.of(join(table, table.newInstance(), Some(JoinOptions()))).contains(JoinKind.OfTables)
    )
  }

  test("an option takes precedence over the inputs, and mode over match") {
    assert(JoinKind.of(join(changes, options = last)).contains(JoinKind.AsOf))
    val both = Some(JoinOptions(last = true, mode = Some(JoinOptions.Changelog)))
    assert(JoinKind.of(join(orders, options = both)).contains(JoinKind.Changelog))
  }

  test("a join with a table, a natural join and a plain join of tables have no kind") {
    for (options <- Seq(None, Some(JoinOptions()))) {
      assert(JoinKind.of(join(orders, table.newInstance(), options)).isEmpty)
      assert(JoinKind.of(join(orders, options = options, how = NaturalJoin(LeftOuter))).isEmpty)
    }
    assert(JoinKind.of(join(table, table.newInstance())).isEmpty)
  }

  test("a stream join is required only by an imposed order or a hint") {
    assert(JoinKind.of(join(plain, plain)).contains(JoinKind.EventTime))
    assert(JoinKind.required(join(plain, plain)).isEmpty)
    assert(JoinKind.required(join(orders)).contains(JoinKind.EventTime))
    assert(JoinKind.required(join(plain, plain, Some(JoinOptions()))).contains(JoinKind.EventTime))
  }

  test("a join of streams without an imposed order or a hint is replaced only by a setting") {
    for (view <- Seq("p", "q"))
      stream("value AS k", "timestamp AS t").withWatermark("t", "5 seconds")
        .createOrReplaceTempView(view)
    val text = "SELECT p.k FROM p JOIN q ON p.k = q.k AND q.t BETWEEN p.t AND p.t + INTERVAL 1 HOUR"
    assert(!isOurs(analyzed(text)))
    session.conf.set(StreamJoinConf.ReplaceBuiltin.key, "true")
    try {
      assert(isOurs(analyzed(text)))
      assert(JoinKind.required(join(plain, plain)).isEmpty)
    } finally session.conf.unset(StreamJoinConf.ReplaceBuiltin.key)
  }

  test("each kind of join refuses the options that it does not support") {
    val options = Seq(
      "late" -> JoinOptions(emitLate = true),
      "retention" -> JoinOptions(retention = Some("1 hour")),
      "event_time" -> JoinOptions(mode = Some(JoinOptions.EventTime)),
      "changelog" -> JoinOptions(mode = Some(JoinOptions.Changelog)),
      "final" -> JoinOptions(emit = Some(JoinOptions.Final)),
      "early" -> JoinOptions(emit = Some(JoinOptions.Early)),
      "early and event_time" ->
        JoinOptions(mode = Some(JoinOptions.EventTime), emit = Some(JoinOptions.Early)),
      "left state_ttl" -> JoinOptions(ttl = BySide(Some("1 day"), None)),
      "right state_ttl" -> JoinOptions(ttl = BySide(None, Some("1 day"))),
      "on_expiry" -> JoinOptions(retractsExpired = true),
      "state_ttl, on_expiry" ->
        JoinOptions(ttl = BySide(Some("1 day"), None), retractsExpired = true),
      "match" -> JoinOptions(last = true)
    )
    def refused(kind: JoinKind) = options.collect {
      case (name, o) if kind.misfit(join(orders, options = Some(o))).nonEmpty => name
    }
    val expiry = Seq("on_expiry", "state_ttl, on_expiry")
    assert(refused(JoinKind.EventTime) == Seq("left state_ttl", "right state_ttl") ++ expiry)
    assert(refused(JoinKind.AsOf) == "retention" +: expiry)
    assert(refused(JoinKind.Changelog) ==
      Seq(
        "late",
        "retention",
        "event_time",
        "final",
        "early and event_time",
        "on_expiry",
        "match"
      ))
    assert(refused(JoinKind.OfTables).isEmpty)
  }

  test("an as-of join of a changelog gives the same error in SQL and with DataFrames") {
    session.sql(FromChangelog).createOrReplaceTempView("c")
    ordered(stream("value AS k", "timestamp AS t"), "t").createOrReplaceTempView("q")
    val options = java.util.Map.of[String, Any]("match", "last")
    val refusals = Seq(
      refusal(
        session.sql("SELECT /*+ STREAM_JOIN(match => 'last') */ * FROM c JOIN q ON c.id = q.k")
      ),
      refusal(session.sql("SELECT * FROM c JOIN q OVER (ROWS 1 PRECEDING) ON c.id = q.k")),
      refusal(PythonApi.streamJoin(
        session.table("c"),
        session.table("q"),
        "id = k",
        "inner",
        options
      ))
    )
    assert(refusals.map(_.getCondition).distinct == Seq("STREAM_JOIN.UNSUPPORTED_CHANGELOG"))
  }
}
