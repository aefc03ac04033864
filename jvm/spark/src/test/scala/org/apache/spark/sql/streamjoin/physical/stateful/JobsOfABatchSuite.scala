package org.apache.spark.sql.streamjoin.physical.stateful

import java.sql.Timestamp
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream

import io.streamjoin.PythonApi

/** A batch is one job and uses the watermarks of its own rows, with each kind of exchange. */
class JobsOfABatchSuite extends TimedStreams {
  import testImplicits._

  private def join(left: DataFrame, right: DataFrame, on: String, how: String): DataFrame =
    PythonApi.streamJoin(left, right, on, how, java.util.Map.of[String, Any]())

  private def within(a: String, b: String): String =
    s"$b.t BETWEEN $a.t AND $a.t + INTERVAL '1' HOUR"

  /**
   * Runs batches. Returns the output and the number of jobs of each. The query starts after all
   * inputs of a batch are added, otherwise it would run two batches.
   */
  private def came(joined: DataFrame, batches: Seq[() => Unit]): Seq[(Set[Row], Int)] = {
    val jobs = new AtomicInteger
    val counting = new SparkListener {
      override def onJobStart(job: SparkListenerJobStart): Unit = { jobs.incrementAndGet(); () }
    }
    var out = Set.empty[Row]
    def take(batch: DataFrame): Unit = out = batch.collect().toSet
    var found = Seq.empty[(Set[Row], Int)]
    spark.sparkContext.addSparkListener(counting)
    try withTempDir { folder =>
        found = batches.map { add =>
          add()
          jobs.set(0)
          val query = joined.writeStream
            .foreachBatch((batch: DataFrame, _: Long) => take(batch))
            .option("checkpointLocation", folder.getCanonicalPath)
            .start()
          try query.processAllAvailable()
          finally query.stop()
          spark.sparkContext.listenerBus.waitUntilEmpty()
          (out, jobs.get)
        }
      }
    finally spark.sparkContext.removeSparkListener(counting)
    found
  }

  private def both(on: String, how: String)(check: Seq[(Set[Row], Int)] => Unit): Unit = {
    val (a, b) = (MemoryStream[(Int, Timestamp)], MemoryStream[(Int, Timestamp)])
    val joined = join(input("a", a), input("b", b), on, how).selectExpr("a.id", "b.id")
    check(
      came(
        joined,
        Seq(
          () => { a.addData(1 -> at(0), 2 -> at(1)); b.addData(1 -> at(30)); () },
          // the rows of this batch evict the remaining rows of the first
          () => { a.addData(3 -> at(200)); b.addData(3 -> at(210)); () }
        )
      )
    )
  }

  for (shared <- Seq(true, false))
    test(s"a join by key is one job, ${if (shared) "with one shuffle" else "with two shuffles"}") {
      withSQLConf("spark.sql.streamJoin.streamExchange" -> shared.toString) {
        both(s"a.id = b.id AND ${within("a", "b")}", "left") { found =>
          assert(found == Seq((Set(Row(1, 1)), 1), (Set(Row(2, null), Row(3, 3)), 1)))
        }
      }
    }

  for (buckets <- Seq(true, false))
    test(s"a keyless join is one job, ${if (buckets) "by time bucket" else "with a broadcast"}") {
      withSQLConf("spark.sql.streamJoin.timeBuckets" -> buckets.toString) {
        both(within("a", "b"), "left") { found =>
          assert(found == Seq((Set(Row(1, 1), Row(2, 1)), 1), (Set(Row(3, 3)), 1)))
        }
      }
    }

  for (own <- Seq(true, false))
    test(s"a self-join is correct with ${if (own) "the project's" else "Spark's"} exchange") {
      withSQLConf("spark.sql.streamJoin.streamExchange" -> own.toString) {
        val rows = MemoryStream[(Int, Timestamp)]
        val both = input("a", rows)
        val on = s"a.id = b.id AND ${within("a", "b")}"
        val joined = join(both, both.as("b"), on, "inner").selectExpr("a.id", "b.t")
        val found = came(
          joined,
          Seq(
            () => { rows.addData(1 -> at(0), 2 -> at(1)); () },
            () => { rows.addData(1 -> at(20)); () }
          )
        )
        assert(found.map(_._1) == Seq(Set(Row(1, at(0)), Row(2, at(1))), Set(Row(1, at(20)))))
      }
    }

  test("a batch in which one input has no rows is one job") {
    val (a, b) = (MemoryStream[(Int, Timestamp)], MemoryStream[(Int, Timestamp)])
    val on = s"a.id = b.id AND ${within("a", "b")}"
    val joined = join(input("a", a), input("b", b), on, "left").selectExpr("a.id", "b.id")
    val found = came(
      joined,
      Seq(() => { a.addData(1 -> at(0)); () }, () => { b.addData(2 -> at(100)); () })
    )
    assert(found == Seq((Set.empty, 1), (Set(Row(1, null)), 1)))
  }

  test("a chain of two joins is one job, by one key and by two keys") {
    for (key <- Seq("a.id", "b.id + 1")) {
      val rows = Seq.fill(3)(MemoryStream[(Int, Timestamp)])
      val lower =
        join(
          input("a", rows(0)),
          input("b", rows(1)),
          s"a.id = b.id AND ${within("a", "b")}",
          "left"
        )
      val upper = join(lower, input("c", rows(2)), s"$key = c.id AND ${within("a", "c")}", "left")
      val c = if (key == "a.id") 0 else 1
      val found = came(
        upper.selectExpr("a.id", "b.id", "c.id"),
        Seq(
          () => {
            rows.head.addData(1 -> at(0), 5 -> at(1))
            rows(1).addData(1 -> at(3))
            rows(2).addData(1 + c -> at(5))
            ()
          },
          () => rows.foreach(_.addData(9 -> at(200)))
        )
      )
      assert(
        found.head == ((Set(Row(1, 1, 1 + c)), 1)) &&
          found.last._1.contains(Row(5, null, null)) && found.last._2 == 1,
        key
      )
    }
  }
}
