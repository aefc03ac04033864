package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.SparkConf
import org.apache.spark.metrics.source.CodegenMetrics
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.internal.StaticSQLConf
import org.apache.spark.sql.streaming.StreamTest
import org.apache.spark.sql.streamjoin.PythonCalls

import io.streamjoin.{PythonApi, StreamJoinExtensions}

/**
 * The generated code of a changelog join is the same in each batch: it contains no batch id or
 * time.
 */
class CodeOfABatchSuite extends StreamTest {
  import testImplicits._

  override protected def sparkConf: SparkConf = super.sparkConf
    .set(StaticSQLConf.SPARK_SESSION_EXTENSIONS.key, classOf[StreamJoinExtensions].getName)
    .set("spark.sql.shuffle.partitions", "1")

  private type Changes = MemoryStream[(Int, String, Int, String)]

  private def input(changes: Changes): DataFrame = PythonCalls.fromChangelog(
    changes.toDF().toDF("id", "name", "seq", "op"),
    java.util.List.of("id"),
    "op",
    java.util.Map.of[String, String](),
    "seq"
  )

  test(
    "later batches of a changelog join with state_ttl compile no code"
  ) {
    val (left, right) =
      (MemoryStream[(Int, String, Int, String)], MemoryStream[(Int, String, Int, String)])
    val joined = PythonApi.streamJoin(
      input(left).as("a"),
      input(right).as("b"),
      "a.id = b.id",
      "left",
      java.util.Map.of("state_ttl", "1 day")
    )
    def change(k: Int): Unit = {
      left.addData(
        (1, s"$k", k, "update_postimage"),
        (2, "x", k, if (k % 2 == 0) "insert" else "delete")
      )
      right.addData((1, s"${-k}", k, "update_postimage"))
    }
    var compiled = Seq.empty[Long]
    val query = joined.writeStream
      .foreachBatch { (batch: DataFrame, _: Long) =>
        batch.collect()
        compiled :+= CodegenMetrics.METRIC_COMPILATION_TIME.getCount
        ()
      }
      .start()
    try
      for (k <- 1 to 6) {
        change(k)
        query.processAllAvailable()
      }
    finally query.stop()
    // a change can be split into two batches, one for each input
    assert(compiled.length >= 6)
    assert(compiled.takeRight(3).distinct.length == 1, compiled)
  }
}
