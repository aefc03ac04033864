package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.streamjoin.AnalysisSession

/** Bounds that mix times and numbers are refused with the interval to write. */
class TimesAndNumbersSuite extends AnalysisSession {

  private def message(bound: String): String = {
    ordered(stream("value AS k", "timestamp AS t"), "t").createOrReplaceTempView("l")
    ordered(stream("value AS k", "timestamp AS t"), "t").createOrReplaceTempView("r")
    val refused = refusal(session.sql(s"SELECT * FROM l JOIN r ON l.k = r.k AND $bound"))
    assert(refused.getCondition == "STREAM_JOIN.TIME_TYPE_MISMATCH")
    refused.getMessage
  }

  test("the refusal of a time plus a number suggests an interval") {
    assert(message("r.t <= l.t + 10").contains("INTERVAL '10' SECOND"))
    assert(message("r.t BETWEEN l.t - 5 AND l.t").contains("INTERVAL '5' SECOND"))
  }

  test("the refusal of a time plus a string suggests an interval") {
    assert(message("r.t <= l.t + '1 hour'").contains("Write l.t + INTERVAL '1 hour'."))
    assert(message("r.t <= l.t + ' 5'").contains("Write l.t + INTERVAL '5' SECOND"))
  }

  test("the refusal of a time compared with a number suggests timestamp_millis") {
    assert(message("r.t <= l.k").contains("timestamp_millis(l.k)"))
  }

  test("the refusal of a time difference compared with a number suggests an interval") {
    assert(message("r.t - l.t <= 10").contains("INTERVAL '10' SECOND"))
  }

  test("Spark refuses a time plus a number if no input has an order") {
    stream("value AS k", "timestamp AS t").createOrReplaceTempView("l")
    stream("value AS k", "timestamp AS t").createOrReplaceTempView("r")
    val refused = intercept[org.apache.spark.sql.AnalysisException](
      session.sql("SELECT * FROM l JOIN r ON l.k = r.k AND r.t <= l.t + 10")
    )
    assert(!refused.getCondition.startsWith("STREAM_JOIN"))
  }
}
