package org.apache.spark.sql.streamjoin.physical

import java.sql.Timestamp
import java.time.Instant

import org.apache.spark.SparkConf
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.internal.StaticSQLConf
import org.apache.spark.sql.streaming.StreamTest
import org.apache.spark.sql.streamjoin.PythonCalls

import io.streamjoin.{PythonApi, StreamJoinExtensions}

/** What the driver's log says of a query that continues with other groups (`per`). */
class ChangedGroupsSuite extends StreamTest {
  import testImplicits._

  override protected def sparkConf: SparkConf = super.sparkConf
    .set(StaticSQLConf.SPARK_SESSION_EXTENSIONS.key, classOf[StreamJoinExtensions].getName)
    .set("spark.sql.shuffle.partitions", "2")

  private val noon = Timestamp.from(Instant.parse("2024-05-04T12:00:00Z"))

  private def ordered(rows: DataFrame, per: Option[String]): DataFrame = {
    val options = new java.util.HashMap[String, Any]()
    options.put("lag", "1 minute")
    per.foreach(options.put("per", _))
    PythonCalls.imposeOrder(rows, "t", options)
  }

  test("the log tells of groups that were added, changed or removed, once for each start") {
    for (isOrder <- Seq(false, true)) withTempDir { folder =>
      val (left, right) = (MemoryStream[(Int, Timestamp)], MemoryStream[(Int, Timestamp)])
      def started(per: Option[String]): Seq[String] = {
        val grouped = ordered(left.toDF().toDF("id", "t").withColumn("p", $"id" % 2), per).as("l")
        val result =
          if (isOrder) grouped.orderBy("t")
          else PythonApi.streamJoin(
            grouped,
            ordered(right.toDF().toDF("id", "t"), None).as("r"),
            "l.id = r.id AND r.t BETWEEN l.t AND l.t + INTERVAL '1' HOUR",
            "left",
            java.util.Map.of[String, Any]()
          )
        val log = new LogAppender("changed groups")
        withLogAppender(log, loggerNames = Seq(classOf[CheckCheckpoint].getName)) {
          val query = result.writeStream.format("noop")
            .option("checkpointLocation", folder.getCanonicalPath).start()
          try {
            left.addData(1 -> noon)
            query.processAllAvailable()
          } finally query.stop()
        }
        log.loggingEvents.toSeq.map(_.getMessage.getFormattedMessage)
      }
      def said(per: Option[String]): String = started(per) match {
        case Seq(one) =>
          assert(one.startsWith("Operator 0 of ") && one.contains(folder.getName))
          one.split(": per").last
        case other => fail(s"$other")
      }
      assert(started(None).isEmpty)
      assert(started(None).isEmpty)
      assert(said(Some("p")).startsWith(
        " = [p] was added to t. Its watermark continues, and each group starts at it"
      ))
      assert(started(Some("p")).isEmpty)
      assert(
        said(Some("id")).startsWith(" = [p] of t was changed to [id]. Its watermark continues")
      )
      assert(said(None).startsWith(" = [id] was removed from t. Its watermark continues"))
      assert(started(None).isEmpty)
    }
  }
}
