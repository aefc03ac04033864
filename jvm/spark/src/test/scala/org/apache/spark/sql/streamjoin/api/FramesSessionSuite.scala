package org.apache.spark.sql.streamjoin.api

import java.util.{List => JList, Map => JMap}

import org.apache.spark.sql.{classic, DataFrame}
import org.apache.spark.sql.catalyst.expressions.TimeZoneAwareExpression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.{AnalysisSession, PythonCalls, StreamJoinConf}
import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException

import io.streamjoin.PythonApi

/** Operations on DataFrames of one session while the thread's active session is another one. */
class FramesSessionSuite extends AnalysisSession {

  private lazy val ours: classic.SparkSession = configured("America/New_York", "2 days", "true")

  private lazy val other: classic.SparkSession = configured("UTC", "3 days", "false")

  private def configured(zone: String, retention: String, sensitive: String) = {
    val made = session.newSession()
    made.conf.set("spark.sql.session.timeZone", zone)
    made.conf.set(StreamJoinConf.Retention.key, retention)
    made.conf.set("spark.sql.caseSensitive", sensitive)
    made
  }

  /** A stream. Spark joins a stream with itself in two steps, the second in this project's code. */
  private lazy val source: DataFrame = PythonCalls.imposeOrder(
    ours.readStream.format("rate").load().selectExpr("value AS id", "timestamp AS t"),
    "t",
    JMap.of("lag", "1 minute")
  )

  private def rates(alias: String): DataFrame = source.alias(alias)

  private def versions: DataFrame =
    PythonCalls.fromUpserts(source, JList.of("id"), "t", null).alias("v")

  private def joined(right: DataFrame, on: String, options: (String, Any)*): DataFrame = {
    val values = new java.util.HashMap[String, Any]
    options.foreach { case (name, value) => values.put(name, value) }
    PythonApi.streamJoin(rates("o"), right, on, "left", values)
  }

  /** Each operation, with settings that it reads. */
  private val operations: Seq[(String, () => DataFrame)] = Seq(
    "an order" -> (() => PythonCalls.imposeOrder(source, "t", JMap.of("lag", "2 days"))),
    "a retention" -> (() => joined(rates("d"), "o.id = d.id", "retention" -> "1 day")),
    "a retention of the session" -> (() => joined(rates("d"), "o.id = d.id")),
    "days of a condition in SQL" -> (() =>
      joined(rates("d"), "o.id = d.id AND d.t BETWEEN o.t AND o.t + INTERVAL 1 DAY")
    ),
    "a local time of a condition in SQL" -> (() =>
      joined(
        rates("d"),
        "o.id = d.id AND d.t BETWEEN o.t AND o.t + INTERVAL 1 HOUR AND hour(o.t) < 3"
      )
    ),
    "a state_ttl of versions" -> (() =>
      joined(versions, "o.id = v.id", "match" -> "last", "state_ttl" -> "1 day")
    ),
    "a changelog join" -> (() => joined(versions, "o.id = v.id", "state_ttl" -> "1 day")),
    "late rows beside a column that differs in case" -> (() =>
      joined(
        rates("d").withColumnRenamed("id", "LATE").alias("d"),
        "o.id = d.LATE",
        "late" -> "emit"
      )
    )
  )

  /** The plan without the IDs of its expressions and its nodes. */
  private def shape(plan: LogicalPlan): String =
    plan.toString.replaceAll("[0-9a-f]{8}-[0-9a-f-]{27}", "UUID")
      .replaceAll("#\\d+L?|rate\\S*@\\w+|@\\w+", "") +
      zones(plan).mkString(" in zones ", ", ", "")

  private def zones(plan: LogicalPlan): Seq[String] = plan.collect { case p =>
    p.expressions.flatMap(_.collect {
      case z: TimeZoneAwareExpression => z.timeZoneId.getOrElse("none")
    })
  }.flatten

  private def made(active: classic.SparkSession)(f: () => DataFrame): Either[String, String] =
    active.withActive {
      try Right(shape(planOf(f())))
      catch { case e: StreamJoinAnalysisException => Left(e.getMessage) }
    }

  for ((name, operation) <- operations)
    test(s"$name follows the session of the DataFrames, and not the active one") {
      val expected = made(ours)(operation)
      assert(expected.isRight, expected)
      assert(made(other)(operation) == expected)
    }

  test("an operation leaves the active session as it was") {
    other.withActive {
      rates("o")
      assert(classic.SparkSession.active eq other)
    }
  }
}
