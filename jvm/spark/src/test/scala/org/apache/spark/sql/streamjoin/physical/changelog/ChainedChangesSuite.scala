package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.SparkConf
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.streaming.runtime.{
  MemoryStream,
  MicroBatchExecution,
  StreamingQueryWrapper
}
import org.apache.spark.sql.internal.StaticSQLConf
import org.apache.spark.sql.streaming.StreamTest
import org.apache.spark.sql.streamjoin.PythonCalls

import io.streamjoin.{PythonApi, StreamJoinExtensions}

/** A chain of changelog joins with packed and consolidated images. */
class ChainedChangesSuite extends StreamTest {
  import testImplicits._

  override protected def sparkConf: SparkConf = super.sparkConf
    .set(StaticSQLConf.SPARK_SESSION_EXTENSIONS.key, classOf[StreamJoinExtensions].getName)
    .set("spark.sql.shuffle.partitions", "2")

  private type Changes = MemoryStream[(Int, Int, Int, String)]

  private def input(changes: Changes, alias: String): DataFrame = PythonCalls.fromChangelog(
    changes.toDF().toDF("id", "other", "seq", "op"),
    java.util.List.of("id"),
    "op",
    java.util.Map.of[String, String](),
    "seq"
  ).as(alias)

  private def join(left: DataFrame, right: DataFrame, on: String): DataFrame =
    PythonApi.streamJoin(left, right, on, "left", java.util.Map.of())

  test(
    "a chain with a changing join key emits each update once, and the same rows to each action"
  ) {
    val inputs = Seq.fill(3)(MemoryStream[(Int, Int, Int, String)])
    val (a, b, c) = (input(inputs(0), "a"), input(inputs(1), "b"), input(inputs(2), "c"))
    val joined = join(join(a, b, "a.id = b.id"), c, "a.other = c.id")
      .selectExpr("a.id", "b.other AS x", "c.other AS y", "_change_type")
    var found = Map.empty[Int, (Any, Any)]
    val query = joined.writeStream
      .foreachBatch { (batch: DataFrame, _: Long) =>
        val rows = batch.collect().toSeq
        // another action returns the same rows
        assert(batch.collect().map(_.toString).sorted.toSeq == rows.map(_.toString).sorted)
        val (come, go) = rows
          .map(r => (r.getInt(0), (r.get(1), r.get(2)), r.getString(3)))
          .partition(r => Set("insert", "update_postimage")(r._3))
        for ((id, row, _) <- go) assert(found.get(id).contains(row))
        found = found -- go.map(_._1) ++ come.map(r => r._1 -> r._2)
      }
      .start()
    try {
      val execution = query.asInstanceOf[StreamingQueryWrapper].streamingQuery
        .asInstanceOf[MicroBatchExecution]
      for (n <- 1 to 4) {
        val word = if (n == 1) "insert" else "update_postimage"
        // in one batch: the optimizer infers more about the columns of an input without rows
        execution.withProgressLocked {
          inputs.foreach(_.addData((1, n % 2 + 1, n, word), (2, n, n, word)))
        }
        query.processAllAvailable()
      }
      assert(found == Map(1 -> (1, 1), 2 -> (4, null)))
    } finally query.stop()
  }
}
