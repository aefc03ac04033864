package org.apache.spark.sql.streamjoin.physical.timed

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.execution.streaming.state.{
  OperatorInfoV1,
  OperatorStateMetadataV2,
  StateStoreMetadataV2
}
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription
import org.apache.spark.sql.streamjoin.checkpoint.formats.{CheckpointFit, StateFormats}
import org.apache.spark.sql.streamjoin.conditions.Condition
import org.apache.spark.sql.streamjoin.conditions.Condition.withSettings
import org.apache.spark.sql.streamjoin.errors.StreamJoinRuntimeException
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{JoinAnalysis, JoinQuestion}
import org.apache.spark.sql.streamjoin.physical.eventtime.JoinExplanation
import org.apache.spark.sql.streamjoin.physical.stateful.shown.Explanation

import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.placement.{HotKey, HotKeys, Routing}

/** The description of a join in the checkpoint, and whether another query can restart from it. */
class TimedJoinSpecSuite extends AnyFunSuite {

  private def described(
      on: String,
      joinType: JoinType = JoinType.LeftOuter,
      zone: String = "UTC",
      times: Set[String] = Set("t")
  ): String = withSettings("spark.sql.session.timeZone" -> zone) {
    spec(on, joinType, times).description(StateFormats.of("segments")).json
  }

  private def spec(
      on: String,
      joinType: JoinType,
      times: Set[String] = Set("t"),
      timeBuckets: Boolean = true
  ): TimedJoinSpec = {
    val (a, b) = (Condition.a, Condition.b)
    val named = Condition.times.filter(c => times(c.name)).map { c =>
      c -> s"${if (a.contains(c)) "o" else "d"}.${c.name}"
    }
    val analysis = JoinAnalysis
      .of(JoinQuestion(
        JoinQuestion.Input.of(LocalRelation(a)),
        JoinQuestion.Input.of(LocalRelation(b)),
        joinType,
        Condition(on).analyzed,
        named
      ))
    TimedJoinSpec.of(
      analysis,
      JoinOutput(a ++ b, a ++ b),
      Explanation("", Nil),
      timeBuckets
    )
  }

  /** Why a join refuses the checkpoint of another; None if it accepts it. */
  private def refusal(old: String, now: String): Option[String] = {
    def metadata(json: String) = OperatorStateMetadataV2(
      OperatorInfoV1(0, JoinDescription.Operator),
      Array.empty[StateStoreMetadataV2],
      JoinDescription.stored(json, 2)
    )
    try {
      CheckpointFit.check("/checkpoint", metadata(old), metadata(now))
      None
    } catch {
      case e: StreamJoinRuntimeException =>
        assert(e.getCondition == "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT")
        val shown = e.getMessage
        assert(!shown.contains("left.") && !shown.contains("000000"), shown)
        Some(shown)
    }
  }

  private def refused(old: String, now: String)(parts: String*): Unit =
    refusal(old, now) match {
      case None        => fail(s"$now accepts the checkpoint of $old")
      case Some(shown) => for (part <- parts) assert(shown.contains(part))
    }

  private val Hour = "a.k = b.k AND b.t BETWEEN a.t AND a.t + INTERVAL '1' HOUR"
  private val Day = Hour.replace("'1' HOUR", "'24' HOUR")

  test("a query with an equivalent condition accepts the checkpoint") {
    val other = "b.k = a.k AND NOT b.t < a.t AND b.t - INTERVAL '3600' SECOND <= a.t"
    assert(refusal(described(Hour), described(other)).isEmpty)
  }

  test("a refusal of other bounds shows only those that differ, as SQL") {
    refused(described(Hour), described(Hour.replace("'1' HOUR", "'90' MINUTE")))(
      "other time bounds",
      "Found: o.t >= d.t - INTERVAL '1' HOUR.",
      "Expected: o.t >= d.t - INTERVAL '90' MINUTE.",
      "restore the earlier query."
    )
    refused(described(Hour), described(Hour + " AND b.t > a.t"))(
      "Found: d.t >= o.t.",
      "Expected: d.t >= o.t + INTERVAL '0.000001' SECOND."
    )
    refused(
      described("a.k = b.k AND a.seq BETWEEN b.seq - 5 AND b.seq + 5", times = Set("seq")),
      described("a.k = b.k AND a.seq BETWEEN b.seq - 5 AND b.seq + 7", times = Set("seq"))
    )("Found: d.seq >= o.seq - 5.", "Expected: d.seq >= o.seq - 7.")
    refused(
      described("a.k = b.k AND a.d BETWEEN b.d AND b.d + 3", times = Set("d")),
      described("a.k = b.k AND a.d BETWEEN b.d AND b.d + INTERVAL '2' DAY", times = Set("d"))
    )("Found: d.d >= o.d - INTERVAL '3' DAY.", "Expected: d.d >= o.d - INTERVAL '2' DAY.")
  }

  test("a refusal of another computed time shows its expression") {
    val until = "a.k = b.k AND b.t BETWEEN a.t AND a.t + a.k * INTERVAL '10' MINUTE"
    refused(
      described(until),
      described(until.replace("'10'", "'20'"))
    )("'10' MINUTE", "'20' MINUTE")
  }

  test("another join type and other keys are refused with both values") {
    refused(described(Hour), described(Hour, JoinType.FullOuter))(
      "another join type. Found: LEFT OUTER. Expected: FULL OUTER."
    )
    refused(
      described(Hour),
      described(Hour + " AND a.seq = b.seq")
    )("other equalities as keys", "Found: k = k: INT. Expected: k = k: INT, seq = seq: BIGINT.")
  }

  test("a routing that this version does not know is refused") {
    val now = described(Hour)
    val unknown = now.replace("\"BY KEY\"", "\"BY TOPIC PARTITION\"")
    assert(unknown != now)
    refused(unknown, now)(
      "another distribution of rows over the partitions. Found: BY TOPIC PARTITION. Expected: " +
        "BY KEY."
    )
  }

  test("a join that does not depend on the session time zone is accepted in another zone") {
    for (zone <- Seq("America/New_York", "+05:30")) {
      assert(refusal(described(Hour), described(Hour, zone = zone)).isEmpty)
    }
    // days have 24 hours in both zones
    assert(refusal(described(Day), described(Day, zone = "+05:30")).isEmpty)
    assert(refusal(described(Day), described(Day, zone = "Etc/UTC")).isEmpty)
    val filtered = Hour + " AND hour(a.t) > 3"
    assert(refusal(described(filtered), described(filtered, zone = "+05:30")).isEmpty)
  }

  test("a join that depends on the session time zone is refused with zone and setting") {
    refused(described(Day), described(Day, zone = "America/New_York"))(
      "another time zone of the session",
      "Found: spark.sql.session.timeZone = UTC. Expected: spark.sql.session.timeZone = America/New_York.",
      "Set spark.sql.session.timeZone to 'UTC' and start the query again"
    )
    // a key or time that is stored as computed in the zone
    for (
      part <- Seq(
        "hour(a.t) = hour(b.t)",
        "CAST(a.t AS DATE) = CAST(b.t AS DATE)",
        "b.t <= a.t + a.wait"
      )
    ) {
      val on = Hour + " AND " + part
      refused(described(on), described(on, zone = "+05:30"))(
        "another time zone of the session",
        "Set spark.sql.session.timeZone to 'UTC'"
      )
      assert(refusal(described(on), described(on, zone = "Etc/UTC")).isEmpty)
    }
  }

  private val Within = "b.t BETWEEN a.t AND a.t + INTERVAL '10' SECOND"

  test("the description restores the routing of joins without an equality") {
    for (joinType <- JoinType.all; timeBuckets <- Seq(true, false)) {
      val plain = spec(Within, joinType, timeBuckets = timeBuckets)
      assert(plain.routing.isInstanceOf[Routing.ByTime] == timeBuckets)
      val json = plain.description(StateFormats.of("segments")).json
      assert(JoinDescription.routing(json).contains(plain.routing))
      assert(JoinDescription.read(json).routing == plain.routing)
    }
  }

  test("explain describes the routing of joins without an equality") {
    def shown(on: String, joinType: JoinType, times: String*) =
      JoinExplanation.routing(spec(on, joinType, ("t" +: times).toSet))
    assert(
      shown(Within, JoinType.LeftOuter) ==
        "no equality: by buckets of 20 seconds of o.t, d.t, right rows copied to at most two partitions"
    )
    assert(shown(
      Within,
      JoinType.RightOuter
    ).endsWith(", left rows copied to at most two partitions"))
    assert(
      shown(Within, JoinType.FullOuter) ==
        "no equality: by buckets of 40 seconds of o.t, d.t, rows copied to at most two partitions"
    )
    assert(shown(
      "a.seq BETWEEN b.seq - 5 AND b.seq + 5",
      JoinType.Inner,
      "seq"
    ).contains(" of 20 of "))
  }

  test(
    "without a constant distance, or with the setting off, one input is broadcast"
  ) {
    val copied = Routing.Broadcast(Side.Left)
    assert(spec("b.t BETWEEN a.t AND a.t + a.wait", JoinType.Inner).routing == copied)
    assert(spec("b.t >= a.t", JoinType.Inner).routing == copied)
    assert(spec(Within, JoinType.Inner, timeBuckets = false).routing == copied)
    assert(spec(Within + " AND a.k = b.k", JoinType.Inner).routing == Routing.ByKey)
    assert(spec(Within + " AND b.t < a.t", JoinType.Inner).routing == Routing.ByKey)
  }

  test("a hot key can be spread if the join bounds the distance of its rows") {
    val keyed = spec(Within + " AND a.k = b.k", JoinType.LeftOuter)
    val buckets = keyed.hotBuckets.get
    assert(buckets.width == 20000000L)
    assert(spec("b.t >= a.t AND a.k = b.k", JoinType.Inner).hotBuckets.isEmpty)
    assert(spec(
      "b.t BETWEEN a.t AND a.t + a.wait AND a.k = b.k",
      JoinType.Inner
    ).hotBuckets.isEmpty)
    for (joinType <- JoinType.all) assert(spec(Within, joinType).hotBuckets.isEmpty)

    val hot = HotKeys(buckets, Seq(HotKey(1L, 0, 9)))
    def shown(hot: HotKeys) = JoinExplanation.routing(
      keyed.copy(routing = Routing.ByKeyAndTime(Some(Side.Left), hot))
    )
    assert(shown(hot).endsWith("], rows of one key spread by buckets of 20 seconds of o.t, d.t"))
    assert(shown(hot ++ Seq(HotKey(2L, 0, 9, wider = 3))).endsWith(
      "rows of 2 keys spread by buckets of 20 seconds or 1 minute of o.t, d.t"
    ))
    // the description equals that of any join by key
    val spread = keyed.copy(routing = Routing.ByKeyAndTime(Some(Side.Left), hot))
    val format = StateFormats.of("segments")
    assert(spread.description(format).json == keyed.description(format).json)
  }

  test("an unknown part of the description is refused") {
    val now = described(Hour)
    val other = now.replaceFirst("\\{", "{\"weather\":\"fine\",")
    refused(other, now)("another 'weather'", "Found: fine. Expected: none.")
  }
}
