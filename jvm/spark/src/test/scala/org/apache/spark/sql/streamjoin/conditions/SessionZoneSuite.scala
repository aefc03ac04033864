package org.apache.spark.sql.streamjoin.conditions

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streamjoin.conditions.Condition.withSettings

/** Whether a condition depends on the session time zone. */
class SessionZoneSuite extends AnyFunSuite {

  private def zones(sql: String): Set[String] =
    withSettings("spark.sql.session.timeZone" -> "Europe/Berlin")(SessionZone.of(
      Condition(sql).analyzed
    ))

  private val depending = Seq(
    "a.t >= b.t - INTERVAL '1' DAY",
    "a.t >= b.t - INTERVAL '24' HOUR",
    "a.t >= b.t - INTERVAL 2 DAYS",
    "a.t - b.t <= INTERVAL '1' HOUR",
    "timestampdiff(HOUR, a.t, b.t) <= 1",
    "timestampadd(DAY, 1, a.t) >= b.t",
    "CAST(a.t AS DATE) = CAST(b.t AS DATE)",
    "a.t >= b.d",
    "a.t >= b.n",
    "date_trunc('HOUR', a.t) = date_trunc('HOUR', b.t)",
    "hour(a.t) = hour(b.t)",
    "date_format(a.t, 'yyyy-MM-dd') = date_format(b.t, 'yyyy-MM-dd')",
    "CAST(a.t AS STRING) = CAST(b.t AS STRING)",
    "a.t >= b.t + a.wait",
    "from_json(CAST(a.k AS STRING), 't TIMESTAMP').t = b.t",
    "to_json(struct(a.t)) = to_json(struct(b.t))"
  )

  private val same = Seq(
    "a.t BETWEEN b.t AND b.t + INTERVAL '23' HOUR",
    "a.t >= b.t - INTERVAL '90' SECOND",
    "a.t >= b.t - make_interval(0, 0, 0, 0, 30)",
    "timestampadd(HOUR, 48, a.t) >= b.t",
    "unix_seconds(a.t) - unix_seconds(b.t) <= 100000",
    "unix_timestamp(a.t) <= unix_timestamp(b.t)",
    "CAST(a.t AS BIGINT) <= CAST(b.t AS BIGINT)",
    "date_trunc('SECOND', a.t) = date_trunc('SECOND', b.t)",
    "a.n >= b.n - INTERVAL '1' DAY",
    "a.n - b.n <= INTERVAL '1' DAY",
    "hour(a.n) = hour(b.n)",
    "CAST(a.n AS DATE) = b.d",
    "a.d >= b.d - INTERVAL '1' DAY",
    "datediff(a.d, b.d) <= 1",
    "a.seq >= b.seq - 5",
    "from_json(CAST(a.k AS STRING), 'seq BIGINT, t TIMESTAMP').seq = b.seq",
    "from_json(CAST(a.k AS STRING), 'v STRUCT<seq: BIGINT>').v.seq = b.seq"
  )

  for (sql <- depending)
    test(s"depends on the zone: $sql")(assert(zones(sql) == Set("Europe/Berlin")))

  for (sql <- same) test(s"does not depend on the zone: $sql")(assert(zones(sql).isEmpty))

  test("zones with the same rules are equal under different names") {
    assert(SessionZone.same("UTC", "Etc/UTC"))
    assert(SessionZone.same("+05:30", "+05:30"))
    assert(!SessionZone.same("UTC", "Europe/London"))
    assert(!SessionZone.same("UTC", "nowhere"))
  }
}
