package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{LocalTableScanExec, SparkPlan}
import org.apache.spark.sql.execution.streaming.state.{
  OperatorInfoV1,
  OperatorStateMetadataV2,
  StateStoreMetadataV2
}
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls}
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription
import org.apache.spark.sql.streamjoin.checkpoint.formats.CheckpointFit
import org.apache.spark.sql.streamjoin.errors.StreamJoinRuntimeException
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{AsOfJoin, ChangelogJoin, StreamJoin}
import org.apache.spark.sql.streamjoin.physical.asof.{AsOfJoinExec, AsOfSpec}
import org.apache.spark.sql.streamjoin.physical.changelog.PlanChangelogJoin
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{BatchInfo, CheckpointedState}

/** Restarts of each kind of join in another time zone of the session, by its description. */
class AnotherZoneSuite extends AnalysisSession {

  private def described(zone: String, query: String): String = {
    session.conf.set("spark.sql.session.timeZone", zone)
    for (name <- Seq("o", "d"))
      ordered(stream("value AS id", "timestamp AS t"), "t").createOrReplaceTempView(name)
    PythonCalls.fromUpserts(session.table("d"), java.util.List.of("id"), "t", null)
      .createOrReplaceTempView("v")
    val optimized = session.sessionState.optimizer.execute(analyzed(query))
    def scan(p: LogicalPlan): SparkPlan = LocalTableScanExec(p.output, Nil, None)
    optimized.collectFirst {
      case j: AsOfJoin => new AsOfJoinExec(scan(j.left), scan(j.right), BatchInfo(), AsOfSpec.of(j))
      case j: ChangelogJoin => PlanChangelogJoin(j, j.outputSet, scan)
      case j: StreamJoin    => StreamJoinStrategy(session)(j).head
    }.collect { case e: CheckpointedState => e.described }.get
  }

  private def refusal(query: String, before: String, now: String): Option[String] = {
    def metadata(zone: String) = OperatorStateMetadataV2(
      OperatorInfoV1(0, JoinDescription.Operator),
      Array.empty[StateStoreMetadataV2],
      JoinDescription.stored(described(zone, query), 2)
    )
    try {
      CheckpointFit.check("/checkpoint", metadata(before), metadata(now))
      None
    } catch {
      case e: StreamJoinRuntimeException =>
        assert(e.getCondition == "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT")
        Some(e.getMessage)
    }
  }

  /** A query for each kind of join, whose limit is an interval. */
  private val kinds: Seq[(String, String => String)] = Seq(
    "an event-time join" ->
      (i => s"o LEFT JOIN d ON o.id = d.id AND d.t BETWEEN o.t AND o.t + INTERVAL $i"),
    "an event-time join with a retention" ->
      (i => s"/*+ STREAM_JOIN(retention => '$i') */ o LEFT JOIN d ON o.id = d.id"),
    "an as-of join" ->
      (i =>
        s"/*+ STREAM_JOIN(match => 'last') */ o LEFT JOIN d ON o.id = d.id " +
          s"AND d.t BETWEEN o.t - INTERVAL $i AND o.t"
      ),
    "a temporal join" ->
      (i =>
        s"/*+ STREAM_JOIN(match => 'last') */ o LEFT JOIN v ON o.id = v.id " +
          s"AND v.t >= o.t - INTERVAL $i"
      ),
    "a temporal join with state_ttl" ->
      (i =>
        s"/*+ STREAM_JOIN(match => 'last', state_ttl => map('right', '$i')) */ " +
          "o LEFT JOIN v ON o.id = v.id"
      ),
    "a changelog join" ->
      (i => s"o LEFT JOIN v ON o.id = v.id AND v.t BETWEEN o.t AND o.t + INTERVAL $i"),
    "a join with early results" ->
      (i =>
        s"/*+ STREAM_JOIN(emit => 'early') */ o LEFT JOIN d ON o.id = d.id " +
          s"AND d.t BETWEEN o.t AND o.t + INTERVAL $i"
      )
  )

  private def select(from: String): String = {
    val (hint, tables) = from.splitAt(from.indexOf("*/") + 2 max 0)
    if (from.startsWith("/*+")) s"SELECT $hint o.id, o.t FROM $tables"
    else s"SELECT o.id, o.t FROM $from"
  }

  // both zones have had days of 23 hours, so their bounds are equal
  private val (newYork, tokyo) = ("America/New_York", "Asia/Tokyo")

  for ((name, query) <- kinds) {
    test(s"$name with a limit in days is refused in a zone with other days") {
      for ((before, now) <- Seq(newYork -> tokyo, tokyo -> newYork, "UTC" -> newYork)) {
        val message = refusal(select(query("1 DAY")), before, now).getOrElse(fail(s"$before $now"))
        assert(message.contains(s"Set spark.sql.session.timeZone to '$before'"))
      }
    }

    test(s"$name with a limit in days is accepted in the same zone by another name") {
      assert(refusal(select(query("1 DAY")), newYork, "US/Eastern").isEmpty)
    }

    test(s"$name with a limit in hours is accepted in another zone") {
      assert(refusal(select(query("2 HOURS")), newYork, tokyo).isEmpty)
    }
  }

  test("the state_ttl of a changelog join is a time that has passed, of 24 hours a day") {
    val query =
      "/*+ STREAM_JOIN(state_ttl => '1 day') */ o LEFT JOIN v ON o.id = v.id"
    assert(refusal(select(query), newYork, tokyo).isEmpty)
  }
}
