package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.execution.streaming.state.{
  OperatorInfoV1,
  OperatorStateMetadataV2,
  StateStoreMetadataV2
}
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription
import org.apache.spark.sql.streamjoin.checkpoint.formats.{CheckpointFit, StateFormats}
import org.apache.spark.sql.streamjoin.errors.StreamJoinRuntimeException
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

/** The description of a changelog join in the checkpoint, and which queries can restart from it. */
class DescribedChangelogSuite extends PlannedChangelogs {

  private val source = "SELECT value AS id, value % 3 AS k, timestamp AS t FROM rates"

  /** The descriptions of the joins of a query, in a session with the time zone. */
  private def described(
      on: String,
      left: String = source,
      asked: String = "a.id",
      zone: String = "UTC"
  ): Seq[String] = {
    session.conf.set("spark.sql.session.timeZone", zone)
    stream("value", "timestamp").createOrReplaceTempView("rates")
    val join = session.sql(
      s"SELECT $asked, _change_type FROM FROM_UPSERTS(TABLE($left), key => DESCRIPTOR(id), " +
        "sequence_by => DESCRIPTOR(id)) a LEFT JOIN FROM_UPSERTS(TABLE(" + source +
        s"), key => DESCRIPTOR(id), sequence_by => DESCRIPTOR(id)) b ON $on"
    )
    val pruned = session.sessionState.optimizer.execute(planOf(join))
    pruned.collect { case j: ChangelogJoin =>
      DescribedChangelog.of(planned(j).spec, StateFormats.of("segments")).json
    }
  }

  private def refusal(old: Seq[String], now: Seq[String]): Option[String] = {
    assert(old.length == now.length)
    old.zip(now).flatMap { case (a, b) => refusal(a, b) }.headOption
  }

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
        Some(e.getMessage)
    }
  }

  private def refusedIn(zone: String, same: String)(describe: String => Seq[String]): Unit = {
    val old = describe("UTC")
    val message = refusal(old, describe(zone)).getOrElse(fail(s"accepts the checkpoint of $old"))
    assert(message.contains("another time zone of the session"))
    assert(message.contains("Set spark.sql.session.timeZone to 'UTC'"))
    assert(refusal(old, describe(same)).isEmpty)
  }

  private val Zone = "America/New_York"

  test("a join with another residual condition refuses the checkpoint") {
    val before = described("a.k = b.k AND a.id < b.id")
    val message = refusal(before, described("a.k = b.k AND a.id > b.id")).getOrElse(fail())
    assert(message.contains("it was written with another condition"))
    assert(message.contains("(left.id < right.id)") && message.contains("(left.id > right.id)"))
    assert(refusal(before, described("a.id < b.id AND a.k = b.k")).isEmpty)
  }

  test("a join with other filters or required columns of its inputs refuses the checkpoint") {
    def on(left: String, asked: String = "a.id, a.k") = described("a.k = b.k", left, asked)
    val before = on(s"$source WHERE value > 3")
    val message = refusal(before, on(s"$source WHERE value > 4")).getOrElse(fail())
    assert(message.contains("it was written with other filters or columns of its inputs"))
    assert(message.contains("left WHERE (value > 3") && message.contains("left WHERE (value > 4"))
    for (other <- Seq(source, s"SELECT id, k, t FROM ($source) WHERE id > 3"))
      assert(refusal(before, on(other)).nonEmpty, other)
    assert(refusal(before, on(s"SELECT * FROM ($source WHERE value > 3)")).isEmpty)
    // only the required columns count
    val times = "SELECT value AS id, value % 3 AS k, value * 10 AS w FROM rates"
    val more = times.replace("* 10", "* 11")
    assert(refusal(on(times), on(more)).isEmpty)
    assert(refusal(on(times, "a.id, a.w"), on(more, "a.id, a.w")).nonEmpty)
    assert(refusal(on(times, "a.id, a.w"), on(s"SELECT * FROM ($times)", "a.id, a.w")).isEmpty)
    // expressions whose names change at each start are not compared
    val arrays =
      "SELECT value AS id, value % 3 AS k FROM rates WHERE exists(array(value), x -> x > 3)"
    assert(refusal(on(arrays), on(arrays)).isEmpty)
  }

  test("the description of append-only inputs has no filters") {
    stream("value", "timestamp").createOrReplaceTempView("rates")
    def inputs(where: String) = {
      val join = session.sql(
        s"SELECT /*+ STREAM_JOIN(mode => 'changelog') */ a.id, _change_type FROM ($source WHERE $where) a " +
          s"LEFT JOIN ($source) b ON a.k = b.k"
      )
      val pruned = session.sessionState.optimizer.execute(planOf(join))
      val j = pruned.collectFirst { case j: ChangelogJoin => j }.get
      DescribedChangelog.of(planned(j).spec, StateFormats.of("segments"))
    }
    assert(inputs("value > 3").changelog.exists(_.inputs.isEmpty))
  }

  test("a join that does not depend on the session time zone is accepted in another zone") {
    for (on <- Seq("a.k = b.k", "a.k = b.k AND a.t < b.t + INTERVAL '1' HOUR", "a.t = b.t"))
      assert(refusal(described(on), described(on, zone = Zone)).isEmpty, on)
  }

  test("keys and conditions that depend on the session time zone are refused in another zone") {
    for (
      on <- Seq(
        "CAST(a.t AS DATE) = CAST(b.t AS DATE)",
        "a.k = b.k AND hour(a.t) = 3",
        "a.k = b.k AND hour(a.t) < hour(b.t)"
      )
    )
      refusedIn(Zone, "Etc/UTC")(zone => described(on, zone = zone))
  }

  test("required columns that depend on the session time zone are refused in another zone") {
    val days = "SELECT value AS id, value % 3 AS k, CAST(timestamp AS DATE) AS day FROM rates"
    val on = "a.k = b.k"
    refusedIn(Zone, "Etc/UTC")(zone => described(on, days, "a.id, a.day", zone))
    refusedIn(Zone, "Etc/UTC") { zone =>
      described(on, s"SELECT id, k, day + 1 AS next FROM ($days)", "a.id, a.next", zone)
    }
    assert(refusal(described(on, days), described(on, days, zone = Zone)).isEmpty)
  }

  test("filters that depend on the session time zone are refused in another zone") {
    val some = source + " WHERE hour(timestamp) > 3"
    refusedIn(Zone, "Etc/UTC")(zone => described("a.k = b.k", some, zone = zone))
  }
}
