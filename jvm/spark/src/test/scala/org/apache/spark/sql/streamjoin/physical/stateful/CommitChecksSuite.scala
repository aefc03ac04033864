package org.apache.spark.sql.streamjoin.physical.stateful

import java.sql.Timestamp

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.{DataFrame => ClassicDataFrame}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery, StreamingQueryException}

import io.streamjoin.PythonApi

/** Spark fails a batch if some partitions of the state have not committed. */
class CommitChecksSuite extends TimedStreams {
  import testImplicits._

  /** Runs two batches or more. */
  private def batches(to: DataStreamWriter[Row] => DataStreamWriter[Row])(
      check: StreamingQuery => Unit
  ): Unit = {
    val (a, b) = (MemoryStream[(Int, Timestamp)], MemoryStream[(Int, Timestamp)])
    val joined = PythonApi.streamJoin(
      input("a", a),
      input("b", b),
      "a.id = b.id AND b.t BETWEEN a.t AND a.t + INTERVAL '1' HOUR",
      "inner",
      java.util.Map.of[String, Any]()
    ).selectExpr("a.id", "b.t")
    val query = to(joined.writeStream).start()
    try {
      (1 to 2).foreach { n =>
        a.addData(n -> at(n))
        b.addData(n -> at(n))
        query.processAllAvailable()
      }
      check(query)
    } finally query.stop()
  }

  for (format <- Seq("segments", "rocksdb")) {
    test(s"a function that leaves a partition unread fails the batch, with $format") {
      def readOne(batch: DataFrame): Unit = {
        val rows = batch.asInstanceOf[ClassicDataFrame].queryExecution.toRdd
        rows.sparkContext.runJob(rows, (rows: Iterator[InternalRow]) => rows.size, Seq(0))
        ()
      }
      withSQLConf("spark.sql.streamJoin.stateFormat" -> format) {
        val failure = intercept[StreamingQueryException] {
          batches(_.foreachBatch((batch: DataFrame, _: Long) => readOne(batch)))(_ => ())
        }
        val causes = Iterator.iterate[Throwable](failure)(_.getCause).takeWhile(_ != null)
        assert(causes.exists(_.getMessage.contains("STATE_STORE_COMMIT_VALIDATION_FAILED")))
      }
    }

    test(s"a function that reads all partitions commits each batch, with $format") {
      var came = Set.empty[Int]
      def readAll(batch: DataFrame): Unit = came ++= batch.collect().map(_.getInt(0))
      withSQLConf("spark.sql.streamJoin.stateFormat" -> format) {
        batches(_.foreachBatch((batch: DataFrame, _: Long) => readAll(batch)))(_ =>
          assert(came == Set(1, 2))
        )
      }
    }
  }
}
