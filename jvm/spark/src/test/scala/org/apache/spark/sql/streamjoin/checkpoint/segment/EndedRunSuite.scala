package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.sql.Timestamp

import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.streamjoin.physical.stateful.TimedStreams
import org.scalatest.time.SpanSugar._

import io.streamjoin.PythonApi

/** The rows of a query that has ended leave the memory before Spark's maintenance. */
class EndedRunSuite extends TimedStreams {
  import testImplicits._

  private def used: Long = LocalDisk.pool.used

  test("the end of a run releases the memory of its rows, but not that of another run") {
    val (a, b) = (MemoryStream[(Int, Timestamp)], MemoryStream[(Int, Timestamp)])
    val joined = PythonApi.streamJoin(
      input("a", a),
      input("b", b),
      "a.id = b.id AND b.t BETWEEN a.t AND a.t + INTERVAL '1' HOUR",
      "inner",
      java.util.Map.of[String, Any]()
    ).selectExpr("a.id", "b.t")
    val queries = Seq.fill(2)(joined.writeStream.format("noop").start())
    try {
      a.addData((1 to 1000).map(_ -> at(1)))
      b.addData(0 -> at(1))
      queries.foreach(_.processAllAvailable())
      val ofBoth = used
      queries.head.stop()
      eventually(timeout(20.seconds))(assert(used > 0 && used <= ofBoth * 2 / 3))
      queries.last.stop()
      eventually(timeout(20.seconds))(assert(used == 0))
    } finally queries.foreach(_.stop())
  }
}
