package org.apache.spark.sql.streamjoin.logical.times

import java.sql.Timestamp

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streamjoin.AnalysisSession

/** Operators on `max(struct(t, ...)).t`, the time of the latest row of each window and key. */
class LatestRowsSuite extends AnalysisSession {

  private def at(minute: Long): Timestamp = new Timestamp(minute * 60000)

  private def latest(events: DataFrame): DataFrame = ordered(events, "t", "0 seconds")
    .groupBy(col("k"), window(col("t"), "10 minutes").as("w"))
    .agg(max(struct(col("t"), col("k"))).as("s"))
    .select(col("k"), col("w"), col("s.t").as("last"))

  private val batches = Seq(
    (Seq(1 -> 3L, 2 -> 8L), Seq(9 -> 8L)),
    (Seq(2 -> 9L), Seq(9 -> 9L)),
    (Seq(9 -> 15L), Seq(9 -> 15L)),
    (Seq(9 -> 16L), Seq(9 -> 16L)),
    (Seq(9 -> 55L), Seq(9 -> 55L)),
    (Seq(9 -> 56L), Seq(9 -> 56L))
  )

  /** The output of a query of the latest rows of `events (k, t)` and of `clicks (c, ct)`. */
  private def rows(query: (DataFrame, DataFrame) => DataFrame): Seq[Row] = {
    import session.implicits._
    implicit val context: org.apache.spark.sql.SQLContext = session.sqlContext
    val (events, clicks) = (MemoryStream[(Int, Timestamp)], MemoryStream[(Int, Timestamp)])
    val ofClicks = ordered(clicks.toDF().toDF("c", "ct"), "ct", "0 seconds").as("c")
    session.conf.set("spark.sql.shuffle.partitions", "1")
    val running = query(latest(events.toDF().toDF("k", "t")).as("a"), ofClicks)
      .writeStream.format("memory").queryName("found").start()
    try {
      for ((some, others) <- batches) {
        events.addData(some.map { case (k, t) => (k, at(t)) })
        clicks.addData(others.map { case (c, t) => (c, at(t)) })
        running.processAllAvailable()
      }
      session.table("found").collect().toSeq
    } finally running.stop()
  }

  private val near = "a.k = c.c AND c.ct BETWEEN a.w.end AND a.w.end + INTERVAL 10 MINUTES"

  private def keys(rows: Seq[Row]): Seq[Int] = rows.map(_.getInt(0)).filter(_ < 9).sorted

  test("a join by the window drops no row by the time of the latest row") {
    assert(keys(rows(joined(_, _, near, "left"))) == Seq(1, 2))
  }

  test("a join by the time of the latest row is refused") {
    val on = "a.k = c.c AND c.ct BETWEEN a.last AND a.last + INTERVAL 30 MINUTES"
    val refused = refusal(rows(joined(_, _, on, "left")))
    assert(refused.getCondition == "STREAM_JOIN.UNBOUNDED_STATE")
  }

  test("ordered output by the time of the latest row is refused") {
    val refused = refusal(rows((a, _) => a.orderBy("last")))
    assert(refused.getMessage.contains("is not an event time with a watermark"))
  }

  test("deduplication above the join drops no row by the time of the latest row") {
    for (
      distinct <- Seq[DataFrame => DataFrame](
        _.dropDuplicates("k", "last"),
        _.dropDuplicatesWithinWatermark("k", "last")
      )
    )
      assert(keys(rows((a, c) => distinct(joined(a, c, near, "left")))) == Seq(1, 2))
  }

  test("windows of the time of the latest row have no watermark above the join") {
    def counted(a: DataFrame, c: DataFrame) =
      joined(a, c, near, "left").groupBy(window(col("last"), "1 minute")).count()
    val refused = intercept[AnalysisException](rows(counted))
    assert(refused.getMessage.contains("watermark"))
  }
}
