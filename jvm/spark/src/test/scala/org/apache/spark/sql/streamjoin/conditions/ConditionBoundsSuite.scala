package org.apache.spark.sql.streamjoin.conditions

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streamjoin.conditions.Condition.withSettings

/** Each form in which a query can write a time bound, and the bounds that follow. */
class ConditionBoundsSuite extends AnyFunSuite {

  private val Second = 1000000L
  private val Minute = 60 * Second
  private val Hour = 60 * Minute
  private val Day = 24 * Hour

  private def shape(sql: String)(bounds: String*): Unit =
    test(s"bounds: $sql")(withSettings("spark.sql.session.timeZone" -> "UTC") {
      val condition = Condition(sql)
      assert(condition.words == bounds.toSet, condition.reasons)
    })

  private def refused(sql: String, reason: RejectedBound.Reason): Unit =
    test(s"no bound: $sql")(withSettings("spark.sql.session.timeZone" -> "UTC") {
      val condition = Condition(sql)
      assert(condition.words.isEmpty)
      assert(condition.reasons == Set(reason))
    })

  // comparisons
  shape("a.t = b.t")("a.t >= b.t", "b.t >= a.t")
  shape("a.t < b.t")("b.t >= a.t + 1")
  shape("a.t <= b.t")("b.t >= a.t")
  shape("a.t > b.t")("a.t >= b.t + 1")
  shape("b.t BETWEEN a.t AND a.t + INTERVAL '1' HOUR")("b.t >= a.t", s"a.t >= b.t - $Hour")
  refused("b.t NOT BETWEEN a.t AND a.t + INTERVAL '1' HOUR", RejectedBound.AnyDistance)
  shape("NOT (a.t > b.t)")("b.t >= a.t")
  shape("NOT (a.t >= b.t OR a.t < b.t - INTERVAL '1' MINUTE)")(
    "b.t >= a.t + 1",
    s"a.t >= b.t - $Minute"
  )
  shape("NOT (NOT (a.t >= b.t))")("a.t >= b.t")
  shape("NOT (b.t NOT BETWEEN a.t AND a.t + INTERVAL '1' HOUR)")(
    "b.t >= a.t",
    s"a.t >= b.t - $Hour"
  )
  shape("CAST(a.t >= b.t AND b.t >= a.t - INTERVAL '5' SECOND AS BOOLEAN)")(
    "a.t >= b.t",
    s"b.t >= a.t - ${5 * Second}"
  )
  shape("(a.t >= b.t) = true")("a.t >= b.t")
  shape("(a.t >= b.t) IS TRUE")("a.t >= b.t")
  shape("(a.t < b.t) = false")("a.t >= b.t")
  shape("(b.t NOT BETWEEN a.t AND a.t + INTERVAL '1' HOUR) IS FALSE")(
    "b.t >= a.t",
    s"a.t >= b.t - $Hour"
  )
  shape("(a.t < b.t) <> true")("a.t >= b.t")
  shape("(a.t >= b.t) <> false")("a.t >= b.t")
  refused("(a.t >= b.t) IS NOT FALSE", RejectedBound.NotConstant)
  refused("(a.t < b.t) IS NOT TRUE", RejectedBound.NotConstant)
  shape("a.t IN (b.t + INTERVAL '1' HOUR)")(s"a.t >= b.t + $Hour", s"b.t >= a.t - $Hour")
  shape("a.seq - b.seq IN (3, 5, 4)")("a.seq >= b.seq + 3", "b.seq >= a.seq - 5")
  refused("a.t <> b.t", RejectedBound.AnyDistance)
  refused("CAST(a.t AS BIGINT) <> CAST(b.t AS BIGINT)", RejectedBound.AnyDistance)
  refused("a.seq - b.seq NOT IN (3, 5)", RejectedBound.AnyDistance)

  // null-safe
  refused("a.t <=> b.t", RejectedBound.NullSafe)
  shape("a.t <=> b.t AND a.t IS NOT NULL")("a.t >= b.t", "b.t >= a.t")
  shape("a.sure <=> b.t")("a.sure >= b.t", "b.t >= a.sure")

  // disjunctions
  shape("a.t = b.t OR a.t = b.t + INTERVAL '1' HOUR")("a.t >= b.t", s"b.t >= a.t - $Hour")
  shape("(a.k = 1 AND a.t >= b.t) OR (a.k = 2 AND a.t >= b.t - INTERVAL '1' HOUR)")(
    s"a.t >= b.t - $Hour"
  )
  refused("a.t >= b.t OR a.k = b.k", RejectedBound.InsideOr)

  // constants on either side, positive and negative
  shape("a.t + INTERVAL '1' HOUR >= b.t - INTERVAL '30' MINUTE")(s"a.t >= b.t - ${90 * Minute}")
  shape("a.t - INTERVAL '1' HOUR >= b.t")(s"a.t >= b.t + $Hour")
  shape("INTERVAL '1' HOUR + a.t >= b.t")(s"a.t >= b.t - $Hour")
  shape("a.t >= b.t + INTERVAL '1' MINUTE * 5")(s"a.t >= b.t + ${5 * Minute}")
  shape("a.t >= b.t + make_dt_interval(0, 1, 2, 3)")(
    s"a.t >= b.t + ${Hour + 2 * Minute + 3 * Second}"
  )
  shape("a.t >= b.t + make_interval(0, 0, 0, 0, 1)")(s"a.t >= b.t + $Hour")
  shape("a.t >= b.t - INTERVAL '-5' SECOND")(s"a.t >= b.t + ${5 * Second}")

  // differences
  shape("a.t - b.t <= INTERVAL '1' HOUR")(s"b.t >= a.t - $Hour")
  shape("INTERVAL '1' HOUR > a.t - b.t")(s"b.t >= a.t - ${Hour - 1}")
  shape("-(a.t - b.t) <= INTERVAL '1' HOUR")(s"a.t >= b.t - $Hour")
  shape("abs(a.t - b.t) <= INTERVAL '1' HOUR")(s"b.t >= a.t - $Hour", s"a.t >= b.t - $Hour")
  shape("abs(a.s - b.s) <= 5")("b.s >= a.s - 5", "a.s >= b.s - 5")
  shape("abs(a.i - b.i) < 10L")("b.i >= a.i - 9", "a.i >= b.i - 9")
  shape("abs(datediff(a.d, b.d)) <= 3")("b.d >= a.d - 3", "a.d >= b.d - 3")
  shape("abs(a.seq - b.seq) < 10")("b.seq >= a.seq - 9", "a.seq >= b.seq - 9")
  refused("abs(a.t - b.t) >= INTERVAL '1' HOUR", RejectedBound.AnyDistance)
  shape("(a.t - b.t) div INTERVAL '1' MINUTE <= 5")(s"b.t >= a.t - ${6 * Minute - 1}")

  shape("(a.t - b.t) / 2 <= INTERVAL '1' HOUR")(s"b.t >= a.t - ${2 * Hour}")
  shape("(a.t - b.t) / 3 < INTERVAL '1' SECOND")(s"b.t >= a.t - ${3 * Second - 2}")
  shape("abs((a.t - b.t) / 2) <= INTERVAL '1' HOUR")(
    s"b.t >= a.t - ${2 * Hour}",
    s"a.t >= b.t - ${2 * Hour}"
  )
  shape("(a.t - b.t) / 2.5 <= INTERVAL '1' HOUR")(s"b.t >= a.t - ${150 * Minute + 1}")
  shape("(a.t - b.t) * 0.5D >= INTERVAL '1' HOUR")(s"a.t >= b.t + ${2 * Hour - 1}")
  shape("(a.t - b.t) * 1.5 <= INTERVAL '3' HOUR")(s"b.t >= a.t - ${2 * Hour}")
  shape("a.t - b.t <= (b.t - a.t) / 2 + INTERVAL '3' HOUR")(s"b.t >= a.t - ${2 * Hour}")
  shape("(a.t - b.t) / -2 <= INTERVAL '1' HOUR")(s"a.t >= b.t - ${2 * Hour + 1}")

  // units
  shape("timestampdiff(MINUTE, a.t, b.t) <= 60")(s"a.t >= b.t - ${61 * Minute - 1}")
  shape("timestampdiff(MINUTE, a.t, b.t) >= 5")(s"b.t >= a.t + ${5 * Minute}")
  shape("timestampdiff(MINUTE, a.t, b.t) >= 0")(s"b.t >= a.t - ${Minute - 1}")
  shape("timestampdiff(HOUR, a.t, b.t) BETWEEN -1 AND -1")(
    s"a.t >= b.t + $Hour",
    s"b.t >= a.t - ${2 * Hour - 1}"
  )
  shape("abs(timestampdiff(SECOND, a.t, b.t)) < 5")(
    s"a.t >= b.t - ${5 * Second - 1}",
    s"b.t >= a.t - ${5 * Second - 1}"
  )
  refused("timestampdiff(MONTH, a.t, b.t) <= 1", RejectedBound.CalendarInterval)
  shape("a.t >= timestampadd(MINUTE, -5, b.t)")(s"a.t >= b.t - ${5 * Minute}")
  shape("a.t >= dateadd(DAY, 2, b.t)")(s"a.t >= b.t + ${2 * Day}")
  refused("a.t <= timestampadd(MONTH, 1, b.t)", RejectedBound.CalendarInterval)
  refused("a.t <= b.t + make_interval(0, 1)", RejectedBound.CalendarInterval)
  refused("a.d >= b.d - make_interval(1)", RejectedBound.CalendarInterval)
  shape("unix_seconds(a.t) - unix_seconds(b.t) <= 60")(s"b.t >= a.t - ${61 * Second - 1}")
  shape("unix_seconds(a.t) > unix_seconds(b.t) + 60")(s"a.t >= b.t + ${60 * Second + 1}")
  shape("unix_millis(a.t) - unix_millis(b.t) <= 60")("b.t >= a.t - 60999")
  shape("unix_micros(a.t) - unix_micros(b.t) <= 60")("b.t >= a.t - 60")
  shape("unix_seconds(a.t) * 1000 <= unix_millis(b.t) + 5")("b.t >= a.t - 1004999")
  // unix_timestamp rounds up before 1970
  shape("unix_timestamp(a.t) - unix_timestamp(b.t) <= 60")(s"b.t >= a.t - ${62 * Second - 2}")
  shape("to_unix_timestamp(a.t) <= to_unix_timestamp(b.t)")(s"b.t >= a.t - ${2 * Second - 2}")
  shape("CAST(a.t AS BIGINT) - CAST(b.t AS LONG) <= 60")(s"b.t >= a.t - ${61 * Second - 1}")
  shape("CAST(a.t AS DECIMAL(20, 6)) - CAST(b.t AS DECIMAL(20, 6)) <= 1.5")("b.t >= a.t - 1500000")
  refused("CAST(a.t AS DOUBLE) - CAST(b.t AS DOUBLE) <= 1.5", RejectedBound.FloatingPoint)
  shape("(unix_seconds(a.t) - unix_seconds(b.t)) / 60 < 5")(s"b.t >= a.t - ${300 * Second - 1}")
  shape("abs(CAST(a.t AS LONG) - CAST(b.t AS LONG)) / 3600.0D <= 0.5")(
    s"b.t >= a.t - ${1801 * Second - 1}",
    s"a.t >= b.t - ${1801 * Second - 1}"
  )
  shape("floor((unix_seconds(a.t) - unix_seconds(b.t)) / 60) <= 5")(
    s"b.t >= a.t - ${360 * Second - 1}"
  )
  shape("ceil((unix_seconds(a.t) - unix_seconds(b.t)) / 60) <= 5")(
    s"b.t >= a.t - ${301 * Second - 1}"
  )
  shape("(unix_seconds(a.t) - unix_seconds(b.t)) div 60 <= 5")(s"b.t >= a.t - ${360 * Second - 1}")

  // dates
  shape("a.d >= b.d - INTERVAL '1' DAY")("a.d >= b.d - 1")
  shape("a.d >= b.d - 3")("a.d >= b.d - 3")
  shape("a.d >= date_sub(b.d, 3) AND a.d <= date_add(b.d, 2)")("a.d >= b.d - 3", "b.d >= a.d - 2")
  shape("datediff(a.d, b.d) <= 3")("b.d >= a.d - 3")
  shape("a.d - b.d < INTERVAL '3' DAY")("b.d >= a.d - 2")
  shape("unix_date(a.d) - unix_date(b.d) < 3")("b.d >= a.d - 2")
  shape("a.d >= b.d - INTERVAL '36' HOUR")("a.d >= b.d - 1")
  shape("a.d >= b.d - make_interval(0, 0, 0, 2)")("a.d >= b.d - 2")
  shape("datediff(a.t, b.t) <= 1")(s"b.t >= a.t - ${2 * Day - 1}")
  shape("CAST(a.t AS DATE) = CAST(b.t AS DATE)")(
    s"a.t >= b.t - ${Day - 1}",
    s"b.t >= a.t - ${Day - 1}"
  )
  refused("a.d >= add_months(b.d, -1)", RejectedBound.CalendarInterval)

  shape("a.t >= CAST(b.t AS DATE) AND a.t < date_add(CAST(b.t AS DATE), 1)")(
    s"a.t >= b.t - ${Day - 1}",
    s"b.t >= a.t - ${Day - 1}"
  )
  shape("a.t BETWEEN to_date(b.t) AND b.t")(s"a.t >= b.t - ${Day - 1}", "b.t >= a.t")
  shape("CAST(a.t AS DATE) <= b.t AND CAST(a.t AS DATE) >= b.t - INTERVAL 1 DAY")(
    s"b.t >= a.t - ${Day - 1}",
    s"a.t >= b.t - $Day"
  )
  shape("CAST(a.t AS DATE) - CAST(b.t AS DATE) BETWEEN INTERVAL '0' DAY AND INTERVAL '1' DAY")(
    s"a.t >= b.t - ${Day - 1}",
    s"b.t >= a.t - ${2 * Day - 1}"
  )
  shape("CAST(date_trunc('HOUR', a.t) AS DATE) <= CAST(CAST(b.n AS DATE) AS TIMESTAMP)")(
    s"row(b.n) >= a.t - ${Day + Hour - 2}"
  )

  // rounding
  shape("CAST(a.t AS BIGINT) + 0.5 > CAST(b.t AS BIGINT)")(s"a.t >= b.t - ${Second - 1}")
  shape("CAST(a.t AS BIGINT) + 0.5 >= CAST(b.t AS BIGINT)")(s"a.t >= b.t - ${Second - 1}")
  shape("CAST(a.t AS BIGINT) - 1.5 <= CAST(b.t AS BIGINT)")(s"b.t >= a.t - ${2 * Second - 1}")
  shape("2 * unix_seconds(a.t) + 3 >= 2 * unix_seconds(b.t)")(s"a.t >= b.t - ${2 * Second - 1}")
  shape("(unix_seconds(a.t) - unix_seconds(b.t)) / 60.5 <= 2")(s"b.t >= a.t - ${122 * Second - 1}")
  shape("(CAST(a.t AS DECIMAL(20, 6)) - CAST(b.t AS DECIMAL(20, 6))) / 2 <= 1")(
    s"b.t >= a.t - ${2 * Second}"
  )
  shape("date_trunc('HOUR', a.t) = date_trunc('HOUR', b.t)")(
    s"a.t >= b.t - ${Hour - 1}",
    s"b.t >= a.t - ${Hour - 1}"
  )
  shape("a.t >= date_trunc('DAY', b.t)")(s"a.t >= b.t - ${Day - 1}")
  shape("trunc(a.d, 'MM') <= b.d")("b.d >= a.d - 30")
  shape("last_day(a.d) >= b.d")("a.d >= b.d - 30")

  // other types
  shape("a.n BETWEEN b.n AND b.n + INTERVAL '1' DAY")("a.n >= b.n", s"b.n >= a.n - $Day")
  shape("a.seq >= b.seq - 5 AND a.seq <= b.seq + 5")("a.seq >= b.seq - 5", "b.seq >= a.seq - 5")
  shape("a.i >= b.seq - 5")("a.i >= b.seq - 5")
  shape("a.i BETWEEN b.seq AND b.seq + 5")("a.i >= b.seq", "b.seq >= a.i - 5")
  shape("a.s + 5 > b.i")("a.s >= b.i - 4")
  shape("2 * a.seq <= 2 * b.seq + 5")("b.seq >= a.seq - 2")
  shape("a.seq - b.seq + 3 >= 0")("a.seq >= b.seq - 3")
  shape("CAST(a.i AS BIGINT) >= CAST(b.i AS BIGINT)")("a.i >= b.i")
  shape("2 * a.seq <= b.seq")("b.seq >= row(a.seq)")

  // numbers as times
  shape("timestamp_seconds(a.seq) >= timestamp_seconds(b.seq) - INTERVAL '1' MINUTE")(
    "a.seq >= b.seq - 60"
  )
  shape("timestamp_millis(a.seq) - timestamp_millis(b.seq) < INTERVAL '1' SECOND")(
    "b.seq >= a.seq - 999"
  )
  shape("timestamp_micros(a.i) <= timestamp_micros(b.i) + INTERVAL '0.000007' SECOND")(
    "b.i >= a.i - 7"
  )
  shape("timestamp_seconds(CAST(a.i AS DOUBLE)) <= timestamp_seconds(CAST(b.i AS DOUBLE))")()

  /**
   * Bounds between numbers in different units, and the bounds of single rows that remain if units
   * are not allowed.
   */
  private def units(sql: String)(bounds: String*)(ofRows: String*): Unit =
    test(s"bounds in different units: $sql") {
      val condition = Condition(sql)
      assert(condition.wordsInUnits == bounds.toSet, condition.reasons)
      assert(condition.words == ofRows.toSet)
    }

  units(
    "timestamp_millis(b.seq) BETWEEN timestamp_seconds(a.seq) AND timestamp_seconds(a.seq) + INTERVAL '1' MINUTE"
  )(
    "b.seq >= 1000 a.seq",
    "1000 a.seq >= b.seq - 60000"
  )()
  units("b.seq BETWEEN a.seq * 1000 AND a.seq * 1000 + 60000")(
    "b.seq >= 1000 a.seq",
    "1000 a.seq >= b.seq - 60000"
  )("b.seq >= row(a.seq)", "row(a.seq) >= b.seq")
  units("timestamp_micros(a.seq) > timestamp_seconds(b.i)")("a.seq >= 1000000 b.i + 1")()
  units("a.i * 1000L <= b.seq + 5")("b.seq >= 1000 a.i - 5")("b.seq >= row(a.i) - 5")
  units("b.seq div 1000 = a.seq")("b.seq >= 1000 a.seq - 999", "1000 a.seq >= b.seq - 999")(
    "a.seq >= row(b.seq)",
    "row(b.seq) >= a.seq"
  )
  units("b.seq / 1000 >= a.seq")()()
  units("3 * a.seq <= 2 * b.seq + 5")("2 b.seq >= 3 a.seq - 5")()
  units("6 * a.seq < 4 * b.seq + 5")("2 b.seq >= 3 a.seq - 2")()
  units("-3 * a.seq <= 2 * b.seq")("2 b.seq >= row(a.seq)")()
  units("a.seq * 1000 >= b.seq + b.k")("1000 a.seq >= row(b.k, b.seq)")()

  // expressions over one row
  shape("b.t <= a.until")("a.until >= b.t")
  shape("b.t < a.t + a.wait")("row(a.t, a.wait) >= b.t + 1")
  shape("b.seq <= a.seq + a.k")("row(a.k, a.seq) >= b.seq")
  // the greater and the smaller time of both inputs
  shape("greatest(a.sure, b.sure) - least(a.sure, b.sure) <= INTERVAL '5' MINUTE")(
    s"a.sure >= b.sure - ${5 * Minute}",
    s"b.sure >= a.sure - ${5 * Minute}"
  )
  shape("greatest(a.sure, b.sure) < least(a.sure, b.sure) + INTERVAL '1' MINUTE")(
    s"a.sure >= b.sure - ${Minute - 1}",
    s"b.sure >= a.sure - ${Minute - 1}"
  )
  shape("a.seq IS NOT NULL AND b.seq IS NOT NULL AND greatest(a.seq, b.seq) - a.seq <= 7")(
    "a.seq >= b.seq - 7"
  )
  refused("greatest(a.t, b.t) - least(a.t, b.t) <= INTERVAL '5' MINUTE", RejectedBound.SkipsNull)
  refused("greatest(a.sure, b.sure) >= a.t", RejectedBound.InsideOr)
  // date_add and date_sub do not check for overflow
  shape("a.d >= date_add(b.d, 2147483647)")("a.d >= row(b.d)")
  shape("date_sub(a.d, -2147483647) <= b.d")("b.d >= row(a.d)")
  shape("greatest(a.t, a.until) >= b.t")("row(a.t, a.until) >= b.t")
  shape("CASE WHEN a.k > 1 THEN a.t ELSE a.u END >= b.t")(
    "row(a.k, a.t, a.u) >= b.t"
  )
  refused("a.t >= b.t - a.wait", RejectedBound.NotConstant)
  refused("CASE WHEN a.k > 1 THEN a.t >= b.t ELSE a.t < b.t END", RejectedBound.NotConstant)
  refused("coalesce(a.t >= b.t, true)", RejectedBound.NotConstant)

  // greatest and least ignore NULL, so only arguments that cannot be NULL are bounded
  shape("greatest(a.sure, a.u) <= b.t")(
    "b.t >= row(a.sure, a.u)",
    "b.t >= a.sure"
  )
  shape("greatest(a.t, a.u) <= b.t AND a.t >= b.t - INTERVAL '1' HOUR")(
    s"a.t >= b.t - $Hour",
    "b.t >= row(a.t, a.u)",
    "b.t >= a.t"
  )
  shape("b.t <= least(a.sure, a.u + INTERVAL '1' HOUR)")(
    "row(a.sure, a.u) >= b.t",
    "a.sure >= b.t"
  )

  // ends of the range
  shape("a.seq >= b.seq - 9223372036854775807")("a.seq >= b.seq - 9223372036854775807")
  shape("a.seq * 4611686018427387904 >= b.seq * 4611686018427387904 + 9223372036854775807")(
    "a.seq >= b.seq + 2"
  )
  shape("a.seq * (-9223372036854775807 - 1) <= b.seq * (-9223372036854775807 - 1)")(
    "a.seq >= b.seq"
  )
  shape("a.seq - 9223372036854775807 > b.seq + 1")("a.seq >= b.seq + 9223372036854775808")
  shape("a.seq - 9223372036854775807 >= b.seq + 9223372036854775807")(
    "a.seq >= b.seq + 9223372036854775808"
  )

  test("bounds between numbers in one unit do not change if other units are allowed") {
    for (sql <- Seq("a.seq >= b.seq - 5", "2 * a.seq <= 2 * b.seq + 5", "a.i >= b.seq - 5")) {
      assert(Condition(sql).wordsInUnits == Condition(sql).words)
    }
  }

  test("a number and a time have no common unit") {
    val condition = Condition("timestamp_millis(a.seq) <= b.t")
    assert(condition.wordsInUnits == condition.words)
    assert(condition.foundInUnits.head.rejected.map(_.reason) == Seq(RejectedBound.MixedTypes))
  }

  test("without ANSI mode, products that may overflow give no bound between different units") {
    withSettings("spark.sql.ansi.enabled" -> "false") {
      val condition = Condition("a.seq * 1000 >= b.seq - 5")
      assert(condition.wordsInUnits.isEmpty)
      assert(condition.reasons == Set(RejectedBound.WrapsAround))
      assert(Condition("a.i * 1000L >= b.i").wordsInUnits == Set("1000 a.i >= b.i"))
      val tried = Condition("try_multiply(a.seq, 1000) >= b.seq")
      assert(tried.wordsInUnits == Set("1000 a.seq >= b.seq"))
    }
  }

  test("times of different types are compared per row and rejected as MixedTypes") {
    for (sql <- Seq("a.t >= b.d", "b.n <= a.t", "a.d < b.n", "unix_seconds(a.t) = b.seq")) {
      assert(Condition(sql).words.exists(_.contains("row(")), sql)
      assert(Condition(sql).reasons == Set(RejectedBound.MixedTypes), sql)
    }
  }

  test("a bound in one direction leaves no rejection reason") {
    for (
      sql <-
        Seq("CAST(a.t AS BIGINT) < CAST(b.t AS BIGINT)", "unix_seconds(a.t) <= unix_seconds(b.t)")
    )
      assert(Condition(sql).reasons.isEmpty, sql)
  }

  test("the rejection reason names both incompatible types") {
    def text(sql: String) = Condition(sql).found.head.rejected.map(_.text).mkString
    assert(
      text("a.t >= b.n").startsWith("its event times are TIMESTAMP and TIMESTAMP_NTZ, and their")
    )
    assert(text("unix_seconds(a.t) = b.seq").startsWith("its event times are TIMESTAMP and BIGINT"))
  }

  test("without ANSI mode, sums of numbers that may overflow give at most bounds of single rows") {
    withSettings("spark.sql.ansi.enabled" -> "false") {
      val ofRows = Map(
        "a.seq >= b.seq - 5" -> Set("a.seq >= row(b.seq)"),
        "a.i + 5 >= b.i" -> Set("row(a.i) >= b.i"),
        "a.seq - b.seq <= 5" -> Set.empty[String],
        "-a.i <= -b.i" -> Set.empty[String]
      )
      assert(ofRows.keySet.map(sql => sql -> Condition(sql).words).toMap == ofRows)
      for (sql <- ofRows.keys)
        assert(Condition(sql).reasons == Set(RejectedBound.WrapsAround), sql)
      assert(Condition("abs(a.s - b.s) <= 5").words.isEmpty)
      assert(Condition("abs(a.s - b.s) <= 5").reasons == Set(RejectedBound.WrapsAround))
      assert(Condition("a.seq >= try_subtract(b.seq, 5)").words == Set("a.seq >= b.seq - 5"))
      assert(Condition("CAST(a.i AS BIGINT) + 5 >= b.i").words == Set("a.i >= b.i - 5"))
      assert(Condition("a.s + 5 >= b.s").words == Set("a.s >= b.s - 5"))
      assert(
        Condition("unix_seconds(a.t) - unix_seconds(b.t) <= 1").words == Set("b.t >= a.t - 1999999")
      )
    }
  }

  test("a one-day interval is widened in zones with daylight saving, a shorter one is not") {
    withSettings("spark.sql.session.timeZone" -> "America/New_York") {
      val changes = 3602 * Second + 56 * Minute // the offset of local mean time was -4:56:02
      assert(
        Condition("a.t >= b.t - INTERVAL '23' HOUR").words == Set(s"a.t >= b.t - ${23 * Hour}")
      )
      for (day <- Seq("INTERVAL '1' DAY", "INTERVAL '24' HOUR")) {
        val bound = Condition(s"a.t >= b.t - $day").found.head.found.head
        assert(bound.slack >= Day + Hour && bound.slack <= Day + changes, day)
      }
      assert(Condition("a.n >= b.n - INTERVAL '1' DAY").words == Set(s"a.n >= b.n - $Day"))
      assert(Condition("a.d >= b.d - INTERVAL '1' DAY").words == Set("a.d >= b.d - 1"))
    }
    withSettings("spark.sql.session.timeZone" -> "+05:30") {
      assert(Condition("a.t >= b.t - INTERVAL '1' DAY").words == Set(s"a.t >= b.t - $Day"))
    }
  }
}
