package org.apache.spark.sql.streamjoin.logical.resolve.shared

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException
import org.apache.spark.sql.types._

/** Lags, timeouts, lengths of windows and retentions, in the unit of their column. */
class DistancesSuite extends AnyFunSuite {

  private val Minute = 60L * 1000 * 1000
  private val times = Seq(TimestampType, TimestampNTZType)

  private def distances(of: DataType) =
    new Distances("lag", AttributeReference("t", of)(), Origin())

  private def sql(text: String) = Distance.of(CatalystSqlParser.parseExpression(text))

  private def refused(of: DataType, distance: Distance)(condition: String, parts: String*): Unit = {
    val e = intercept[StreamJoinAnalysisException](distances(of).inUnits(distance))
    assert(e.getCondition == s"STREAM_JOIN.$condition")
    for (part <- parts) assert(e.getMessage.contains(part))
  }

  test("an interval in any syntax is converted to the unit of the column") {
    val written = Seq(
      Distance.of("90 minutes"),
      Distance.of("INTERVAL '1:30' HOUR TO MINUTE"),
      sql("INTERVAL '90' MINUTE"),
      sql("INTERVAL 1 HOUR 30 MINUTES"),
      sql("'90 minutes'")
    )
    for (d <- written; of <- times) assert(distances(of).inUnits(d) == 90 * Minute)
    assert(distances(DateType).inUnits(Distance.of("2 days")) == 2)
    assert(distances(DateType).inUnits(Distance.of("36 hours")) == 1)
    assert(distances(DateType).span(Distance.of("1 minute")) == Minute)
  }

  test("numeric columns accept only whole numbers, and time columns only intervals") {
    for (
      of <- Seq(LongType, IntegerType, ShortType, ByteType); d <- Seq(Distance.of(" 7 "), sql("7"))
    ) {
      assert(distances(of).inUnits(d) == 7)
      refused(
        of,
        sql("INTERVAL '1' MINUTE")
      )("INVALID_LAG", "the column has numbers", "a whole number")
    }
    for (of <- times) refused(of, sql("7"))("INVALID_LAG", "the column has times", "'1 minute'")
  }

  test("a refusal quotes the value and names the column") {
    refused(TimestampType, sql("INTERVAL '-1' MINUTE"))(
      "NEGATIVE_LAG",
      "the lag INTERVAL '-01' MINUTE for column t is negative"
    )
    refused(TimestampType, Distance.of("-1 minute"))("NEGATIVE_LAG", "the lag '-1 minute' for")
    refused(LongType, Distance.of("-5"))("NEGATIVE_LAG", "the lag -5 for column t")
    refused(TimestampType, Distance.of("1 month"))("CALENDAR_INTERVAL", "the lag '1 month' uses")
    refused(
      TimestampType,
      sql("INTERVAL '1' MONTH")
    )("CALENDAR_INTERVAL", "the lag INTERVAL '1' MONTH")
    refused(TimestampType, Distance.of("soon"))("INVALID_LAG", "'soon'", "it is not an interval")
    refused(TimestampType, Distance.of("2000000000 days"))("INVALID_LAG", "out of range", "days")
    refused(TimestampType, sql("1.5D"))("INVALID_LAG", "neither an interval nor a whole number")
  }
}
