package org.apache.spark.sql.streamjoin.reporting

import java.sql.Timestamp
import java.time.Instant

import scala.jdk.CollectionConverters._

import com.codahale.metrics.MetricRegistry
import org.apache.spark.{SparkConf, SparkEnv}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.internal.StaticSQLConf
import org.apache.spark.sql.streaming.{StreamTest, StreamingQuery}
import org.apache.spark.sql.streamjoin.PythonCalls

import io.streamjoin.{PythonApi, StreamJoinExtensions}

/** The driver's log and Spark's metrics system for running queries. */
class JoinListenerSuite extends StreamTest {
  import testImplicits._

  override protected def sparkConf: SparkConf = super.sparkConf
    .set(StaticSQLConf.SPARK_SESSION_EXTENSIONS.key, classOf[StreamJoinExtensions].getName)
    .set("spark.sql.shuffle.partitions", "2")

  private val within = "o.id = d.id AND d.dt BETWEEN o.ot AND o.ot + INTERVAL '1' HOUR"
  private val start = Instant.parse("2024-05-04T10:00:00Z")

  private type Rows = MemoryStream[(Int, Timestamp)]

  private def at(minutes: Int): Timestamp = Timestamp.from(start.plusSeconds(60L * minutes))

  private def ordered(rows: Rows, time: String, alias: String): DataFrame =
    PythonCalls.imposeOrder(
      rows.toDF().toDF("id", time),
      time,
      java.util.Map.of("lag", "1 minute")
    ).alias(alias)

  private def running(
      on: String = within,
      name: String = "orders"
  )(test: (StreamingQuery, Rows, Rows) => Unit): Unit =
    withTempDir { folder =>
      val (o, d) = (MemoryStream[(Int, Timestamp)], MemoryStream[(Int, Timestamp)])
      val joined = PythonApi.streamJoin(
        ordered(o, "ot", "o"),
        ordered(d, "dt", "d"),
        on,
        "left",
        java.util.Map.of[String, Any]()
      )
      val query = joined.writeStream.format("noop").queryName(name)
        .option("checkpointLocation", folder.getCanonicalPath).start()
      try test(query, o, d)
      finally query.stop()
    }

  private def batch(query: StreamingQuery): Unit = {
    query.processAllAvailable()
    spark.sparkContext.listenerBus.waitUntilEmpty()
  }

  private def logged(during: => Unit): Seq[String] = {
    val log = new LogAppender("warnings of joins")
    withLogAppender(log, loggerNames = Seq(classOf[JoinListener].getName))(during)
    log.loggingEvents.toSeq.map(_.getMessage.getFormattedMessage)
  }

  private def figures: Map[String, Long] =
    SparkEnv.get.metricsSystem.getSourcesByName("streamjoin.orders").flatMap { source =>
      source.metricRegistry.getGauges.asScala.map { case (name, gauge) =>
        name -> gauge.getValue.asInstanceOf[Long]
      }
    }.toMap

  test("the log warns once for each query of late rows and of a watermark ahead of the clock") {
    val warnings = logged {
      running() { (query, o, d) =>
        o.addData(1 -> Timestamp.from(Instant.now.plusSeconds(864000)))
        batch(query)
        for (_ <- 1 to 2) {
          o.addData((1 to 20).map(n => n -> at(n)))
          d.addData((1 to 20).map(n => n -> at(n)))
          batch(query)
        }
      }
    }
    assert(warnings.count(_.contains("20 of 20 rows of o are late")) == 1)
    assert(warnings.count(_.contains("the watermark of o.ot is ")) == 1)
    assert(warnings.distinct.length == warnings.length)
    assert(warnings.forall(_.startsWith("Query orders, join 0, batch ")))
  }

  test(
    "a trigger without data does not change the counters, and the next batch is counted"
  ) {
    withSQLConf("spark.sql.streaming.noDataProgressEventInterval" -> "0") {
      running() { (query, o, d) =>
        o.addData(1 -> at(1), 2 -> at(2))
        batch(query)
        eventually(timeout(streamingTimeout)) {
          assert(query.lastProgress.batchId == 1 && query.lastProgress.numInputRows == 0)
        }
        d.addData(1 -> at(1), 2 -> at(2), 3 -> at(3))
        batch(query)
        assert(figures("0.inputRowsLeft") == 2)
        assert(figures("0.inputRowsRight") == 3)
        assert(figures("0.joinedRows") == 2)
      }
    }
  }

  test("the metrics system has the metrics of a join while its query runs") {
    running() { (query, o, d) =>
      o.addData((1 to 20).map(n => n -> at(n)))
      d.addData((1 to 20).map(n => n -> at(n)))
      batch(query)
      o.addData(21 -> at(40))
      batch(query)
      assert(figures("0.inputRowsLeft") == 21 && figures("0.joinedRows") == 20)
      assert(figures("0.bufferedRowsLeft") == query.lastProgress.stateOperators.head
        .customMetrics.get("bufferedRowsLeft"))
      assert(figures("0.watermark.ot") == at(39).getTime)
      assert(figures("0.lag.dt") == 60000L)
      assert(figures("0.delay.dt") > 0)
    }
    spark.sparkContext.listenerBus.waitUntilEmpty()
    assert(figures.isEmpty)
  }

  test("the metrics of a query stay when a query whose name is a prefix of its name ends") {
    val system = SparkEnv.get.metricsSystem
    val field = system.getClass.getDeclaredField("registry")
    field.setAccessible(true)
    def shown(query: String): Int =
      field.get(system).asInstanceOf[MetricRegistry].getNames.asScala
        .count(_.contains(s".streamjoin.$query."))
    def oneBatch(query: StreamingQuery, o: Rows): Unit = {
      o.addData(1 -> at(1))
      batch(query)
    }
    running(name = "orders_eu") { (query, o, _) =>
      oneBatch(query, o)
      val before = shown("orders_eu")
      running() { (other, others, _) =>
        oneBatch(other, others)
        assert(shown("orders") == before && before > 0)
      }
      spark.sparkContext.listenerBus.waitUntilEmpty()
      assert(shown("orders") == 0 && shown("orders_eu") == before)
      oneBatch(query, o)
    }
    spark.sparkContext.listenerBus.waitUntilEmpty()
    assert(shown("orders_eu") == 0)
  }
}
