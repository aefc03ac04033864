package org.apache.spark.sql.streamjoin.physical.stateful

import java.sql.Timestamp
import java.time.Instant

import org.apache.spark.SparkConf
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.internal.StaticSQLConf
import org.apache.spark.sql.streaming.StreamTest
import org.apache.spark.sql.streamjoin.PythonCalls

import io.streamjoin.StreamJoinExtensions

/** Memory streams of rows with a time, in a session with two partitions. */
private[streamjoin] trait TimedStreams extends StreamTest {

  override protected def sparkConf: SparkConf = super.sparkConf
    .set(StaticSQLConf.SPARK_SESSION_EXTENSIONS.key, classOf[StreamJoinExtensions].getName)
    .set("spark.sql.shuffle.partitions", "2")

  protected type Rows = MemoryStream[(Int, Timestamp)]

  private val start = Instant.parse("2024-05-04T10:00:00Z")

  protected def at(minutes: Int): Timestamp = Timestamp.from(start.plusSeconds(60L * minutes))

  protected def input(alias: String, rows: Rows, lag: String = "1 minute"): DataFrame =
    PythonCalls.imposeOrder(
      rows.toDF().toDF("id", "t"),
      "t",
      java.util.Map.of("lag", lag)
    ).as(alias)
}
