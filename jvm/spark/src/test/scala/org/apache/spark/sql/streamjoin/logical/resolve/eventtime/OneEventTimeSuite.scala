package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import java.sql.Timestamp

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.streamjoin.AnalysisSession

/** Deduplication above a join whose output has several event times. */
class OneEventTimeSuite extends AnalysisSession {

  private def at(second: Long): Timestamp = new Timestamp(second * 1000)

  /** The output after the given batches of both inputs. */
  private def rows(how: String, over: DataFrame => DataFrame)(
      batches: (Seq[(String, Long)], Seq[(String, Long)])*
  ): Seq[Row] = {
    import session.implicits._
    implicit val context: org.apache.spark.sql.SQLContext = session.sqlContext
    val (left, right) = (MemoryStream[(String, Timestamp)], MemoryStream[(String, Timestamp)])
    val l = ordered(left.toDF().toDF("id", "t"), "t", "0 seconds").as("l")
    val r = ordered(right.toDF().toDF("key", "s"), "s", "0 seconds").as("r")
    val both = joined(l, r, "l.id = r.key AND r.s BETWEEN l.t AND l.t + INTERVAL 10 SECONDS", how)
    session.conf.set("spark.sql.shuffle.partitions", "1")
    val query = over(both).writeStream.format("memory").queryName("found").start()
    try {
      for ((some, others) <- batches) {
        left.addData(some.map { case (id, s) => (id, at(s)) })
        right.addData(others.map { case (id, s) => (id, at(s)) })
        query.processAllAvailable()
      }
      session.table("found").collect().toSeq
    } finally query.stop()
  }

  private val repeated = Seq(
    (Seq("a" -> 1L, "a" -> 1L), Seq("a" -> 2L)),
    (Seq("b" -> 3L), Seq("b" -> 4L, "b" -> 4L)),
    (Seq("z" -> 100L), Seq("z" -> 101L)),
    (Seq("y" -> 200L), Seq("y" -> 201L))
  )

  private def ids(rows: Seq[Row]): Seq[String] = rows.map(_.getString(0)).sorted

  test("dropDuplicates on all columns emits each row once") {
    assert(ids(rows("inner", _.dropDuplicates())(repeated: _*)) == Seq("a", "b", "y", "z"))
  }

  test("dropDuplicates on some columns accepts either event time, or none, among them") {
    for (keys <- Seq(Seq("id", "t"), Seq("id", "s"), Seq("id")))
      assert(ids(rows("inner", _.dropDuplicates(keys))(repeated: _*)) == Seq("a", "b", "y", "z"))
  }

  test("dropDuplicatesWithinWatermark emits each key once, also below a projection") {
    for (
      over <- Seq[DataFrame => DataFrame](
        _.dropDuplicatesWithinWatermark(Seq("id")),
        _.dropDuplicatesWithinWatermark(Seq("id")).select("id")
      )
    )
      assert(ids(rows("inner", over)(repeated: _*)) == Seq("a", "b", "y", "z"))
  }

  test("dropDuplicatesWithinWatermark above a full join accepts rows without one of the times") {
    val batches = repeated.patch(
      2,
      Seq(
        (Seq("c" -> 50L, "c" -> 50L), Nil),
        (Nil, Seq("d" -> 60L, "d" -> 60L)),
        (Seq("e" -> 70L, "e" -> 70L), Seq("f" -> 72L, "f" -> 73L))
      ),
      0
    )
    val who = "coalesce(id, key) AS who"
    for (columns <- Seq(Seq(who, "t", "s"), Seq(who, "s", "t"))) {
      val found =
        rows("full", _.selectExpr(columns: _*).dropDuplicatesWithinWatermark(Seq("who")))(
          batches: _*
        )
      assert(ids(found) == Seq("a", "b", "c", "d", "e", "f", "y", "z"), columns)
    }
  }

  test("dropDuplicates accepts padded rows below and an aggregation by the other time above") {
    val padded = (Seq("c" -> 50L, "c" -> 50L), Nil)
    val batches = repeated.patch(2, Seq(padded), 0)
    assert(ids(rows("left", _.dropDuplicates(Seq("id", "t")))(batches: _*)) ==
      Seq("a", "b", "c", "y", "z"))
    val counts = rows(
      "inner",
      _.dropDuplicates(Seq("id", "t")).groupBy(org.apache.spark.sql.functions.window(
        org.apache.spark.sql.functions.col("s"),
        "10 seconds"
      )).count().select("count")
    )(repeated: _*)
    assert(counts.map(_.getLong(0)) == Seq(2L, 1L))
  }
}
