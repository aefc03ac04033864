package org.apache.spark.sql.streamjoin.physical.eventtime

import java.io.File

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.SparkConf
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider
import org.apache.spark.sql.internal.{SQLConf, StaticSQLConf}
import org.apache.spark.sql.streaming.{StreamTest, StreamingQueryException}
import org.apache.spark.sql.streamjoin.errors.StreamJoinRuntimeException

import io.streamjoin.{PythonApi, StreamJoinExtensions}

/**
 * Topics that are partitioned alike are joined without a shuffle, and give what they would give with one.
 * [[MemoryKafka]] is in the place of a broker.
 */
class CoPartitionedSuite extends StreamTest {

  override protected def sparkConf: SparkConf = super.sparkConf
    .set(StaticSQLConf.SPARK_SESSION_EXTENSIONS.key, classOf[StreamJoinExtensions].getName)
    // of another number than the topics'
    .set("spark.sql.shuffle.partitions", "2")

  private var numbers = 0

  /** A topic of one test, of which nobody else has the name. */
  private def topic(partitions: Int): (String, MemoryKafka.Topic) = {
    numbers += 1
    val name = s"topic-$numbers"
    name -> MemoryKafka.create(name, partitions)
  }

  private def read(topic: String, alias: String, lag: Int, parts: Int = 1): DataFrame = {
    val rows = spark.readStream
      .format(classOf[MemoryKafka].getName)
      .option("subscribe", topic)
      .option("parts", parts.toString)
      .load()
      .selectExpr(
        "CAST(key AS STRING) AS k",
        "CAST(split(value, ',')[0] AS BIGINT) AS t",
        "split(value, ',')[1] AS v"
      )
    PythonApi.imposeOrder(rows, "t", java.util.Map.of("lag", lag)).alias(alias)
  }

  private def join(
      left: DataFrame,
      right: DataFrame,
      on: String,
      how: String,
      coPartitioned: Boolean
  ): DataFrame =
    PythonApi.streamJoin(
      left,
      right,
      on,
      how,
      java.util.Map.of[String, Any]("co_partitioned", coPartitioned)
    )

  private val condition = "a.k = b.k AND b.t BETWEEN a.t - 5 AND a.t + 10"

  /**
   * One query over restarts and failures: what came out of each batch, which may be run more than once.
   *
   * @param tasks into so many the partitions of a batch are put by a second action, which is to give the same
   */
  private final class Runs(df: DataFrame, folder: File, tasks: Option[Int] = None) {
    val batches = mutable.SortedMap.empty[Long, Seq[Row]]
    var late = 0L
    @volatile private var fails = false

    def rows: Seq[String] = batches.values.flatten.map(_.toString).toSeq.sorted

    /** Takes in what is there, in one run or in several, of which one ends after its first batch has written its state. */
    def run(failFirst: Boolean = false): Unit = {
      fails = failFirst
      val query = df.writeStream
        .foreachBatch { (batch: DataFrame, id: Long) =>
          def came(batch: DataFrame) = batch.collect().toSeq.sortBy(_.toString)
          val rows = came(batch)
          tasks.foreach(n => assert(came(batch.coalesce(n)) == rows, s"batch $id in $n tasks"))
          batches.get(id).foreach(before =>
            assert(before == rows, s"batch $id gave something else")
          )
          batches(id) = rows
          if (fails) throw new IllegalStateException("on purpose")
        }
        .option("checkpointLocation", folder.getCanonicalPath)
        .start()
      try query.processAllAvailable()
      catch { case _: StreamingQueryException if failFirst => }
      finally query.stop()
      for (progress <- query.recentProgress; operator <- progress.stateOperators)
        late += operator.customMetrics.get("lateRowsLeft") + operator.customMetrics.get(
          "lateRowsRight"
        )
      if (failFirst) run(failFirst = false)
    }
  }

  private def withRuns(one: DataFrame, other: DataFrame)(check: (Runs, Runs) => Unit): Unit =
    withTempDir { folder =>
      check(new Runs(one, new File(folder, "one")), new Runs(other, new File(folder, "other")))
    }

  /** Rows of an hour that goes on, some of them late, some without a key. */
  private def send(rng: Random, round: Int, topic: MemoryKafka.Topic, rows: Int): Unit =
    for (n <- 0 until rows) {
      val key = if (rng.nextInt(12) == 0) null else s"key-${rng.nextInt(6)}"
      val time = round * 10 + rng.nextInt(14) - rng.nextInt(2) * rng.nextInt(30)
      topic.add(MemoryKafka.text(key), s"$time,$round-$n")
    }

  private def differential(how: String, partitions: Int, seed: Int)(
      made: (Seq[String], Boolean) => DataFrame
  )(inputs: Int): Unit = {
    val rng = new Random(s"$how/$partitions/$seed".hashCode)
    val all = Seq.fill(inputs)(topic(partitions))
    withRuns(made(all.map(_._1), true), made(all.map(_._1), false)) { (inPlace, shuffled) =>
      for (round <- 0 until 6) {
        // an idle input, and then one that catches up
        for (((_, topic), i) <- all.zipWithIndex if (round + i) % 3 != 2)
          send(rng, round, topic, 12)
        inPlace.run(failFirst = rng.nextInt(3) == 0)
        shuffled.run()
        assert(inPlace.rows == shuffled.rows, s"after round $round")
        assert(inPlace.late == shuffled.late)
      }
      assert(shuffled.rows.nonEmpty)
    }
  }

  for ((how, partitions) <- Seq("inner" -> 1, "left" -> 3, "full" -> 4, "semi" -> 3, "anti" -> 2))
    test(s"what comes out is that of a join with a shuffle: $how, $partitions partitions") {
      differential(how, partitions, seed = 1) { (names, coPartitioned) =>
        val (a, b) = (read(names(0), "a", lag = 3), read(names(1), "b", lag = 6, parts = 2))
        join(a, b, condition, how, coPartitioned)
      }(inputs = 2)
    }

  test(
    "a task may have several partitions: each goes by its own rows, and what one owes comes out"
  ) {
    val ((a, left), (b, right)) = (topic(2), topic(2))
    val joined = join(read(a, "a", 0), read(b, "b", 0), condition, "left", coPartitioned = true)
    withTempDir { folder =>
      val runs = new Runs(joined, folder, tasks = Some(1))
      for (n <- 0 until 8) left.add(MemoryKafka.text(s"x$n"), s"1,x$n")
      right.addTo(0, null, "100,r")
      runs.run()
      val (first, all) = (runs.batches.values.head.length, runs.rows.length)
      assert(first > 0 && first < 8 && all == 8)
    }
  }

  test("a result is joined again by the same key") {
    differential("chain", 3, seed = 2) { (names, coPartitioned) =>
      val (a, b) = (read(names(0), "a", lag = 3), read(names(1), "b", lag = 6))
      val lower = join(a, b, condition, "left", coPartitioned)
      val c = read(names(2), "c", lag = 4)
      join(lower, c, "a.k = c.k AND c.t BETWEEN a.t AND a.t + 12", "left", coPartitioned)
    }(inputs = 3)
  }

  test("a topic with itself, whose order is noted twice in a task") {
    differential("itself", 3, seed = 3) { (names, coPartitioned) =>
      val rows = read(names.head, "a", lag = 3)
      val on = "a.k = b.k AND b.t BETWEEN a.t AND a.t + 10 AND a.v <> b.v"
      join(rows, rows.alias("b"), on, "left", coPartitioned)
    }(inputs = 1)
  }

  test(
    "what other partitions have proved in the last batch of a run comes with the first rows of the next"
  ) {
    val ((a, left), (b, right)) = (topic(2), topic(2))
    val joined = join(read(a, "a", 0), read(b, "b", 0), condition, "left", coPartitioned = true)
    withTempDir { folder =>
      val runs = new Runs(joined, folder)
      for (n <- 0 until 8) left.add(MemoryKafka.text(s"x$n"), s"1,x$n")
      right.addTo(0, null, "100,r")
      // as where a process ends before the batch without rows that would give them
      withSQLConf(SQLConf.STREAMING_NO_DATA_MICRO_BATCHES_ENABLED.key -> "false")(runs.run())
      val some = runs.rows
      assert(some.nonEmpty && some.length < 8)
      // Spark plans no batch without rows before a run has had one
      runs.run()
      assert(runs.rows == some)
      right.addTo(0, null, "101,r")
      withSQLConf(SQLConf.STREAMING_NO_DATA_MICRO_BATCHES_ENABLED.key -> "false")(runs.run())
      assert(runs.rows.length == 8)
    }
  }

  for (ids <- Seq(1, 2))
    test(s"in RocksDB, in checkpoints of Spark's format $ids") {
      withSQLConf(
        "spark.sql.streamJoin.stateFormat" -> "rocksdb",
        SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> ids.toString,
        SQLConf.STATE_STORE_PROVIDER_CLASS.key -> classOf[RocksDBStateStoreProvider].getName
      ) {
        differential(s"rocksdb $ids", 3, seed = 4) { (names, coPartitioned) =>
          val (a, b) = (read(names(0), "a", lag = 3), read(names(1), "b", lag = 6))
          join(a, b, condition, "full", coPartitioned)
        }(inputs = 2)
      }
    }

  for (tasks <- Seq(3, 1))
    test(s"rows that wait are shown, and those too far ahead are counted, in $tasks tasks") {
      val ((a, left), (b, right)) = (topic(3), topic(3))
      def rows(topic: String, alias: String) = PythonApi.imposeOrder(
        spark.readStream.format(classOf[MemoryKafka].getName).option("subscribe", topic).load()
          .selectExpr("key", "CAST(value AS TIMESTAMP) AS t"),
        "t",
        java.util.Map.of("lag", "1 minute", "max_ahead", "1 hour")
      ).alias(alias)
      val on = "a.key = b.key AND b.t BETWEEN a.t AND a.t + INTERVAL '1' HOUR"
      val joined = join(rows(a, "a"), rows(b, "b"), on, "left", coPartitioned = true)
      withTempDir { folder =>
        for (n <- 0 until 8) left.add(MemoryKafka.text(s"x$n"), "2024-05-04 10:00:00")
        for (n <- 0 until 3) left.add(MemoryKafka.text(s"y$n"), "4024-05-04 10:00:00")
        right.add(MemoryKafka.text("x1"), "2024-05-04 10:10:00")
        right.add(MemoryKafka.text("y"), "4024-05-04 10:10:00")
        val query = joined.coalesce(tasks).writeStream.format("noop")
          .option("checkpointLocation", folder.getCanonicalPath).start()
        try query.processAllAvailable()
        finally query.stop()
        val metrics = query.recentProgress.head.stateOperators.head.customMetrics
        assert(metrics.get("aheadRowsLeft") == 3 && metrics.get("aheadRowsRight") == 1)
        val waiting =
          spark.read.format("streamjoin-pending").option(
            "side",
            "left"
          ).load(folder.getCanonicalPath)
        assert(waiting.count() == 8)
      }
    }

  test("the batch is one stage, with a task for each partition of the topics") {
    val ((a, left), (b, right)) = (topic(3), topic(3))
    val joined =
      join(read(a, "a", 1), read(b, "b", 1, parts = 4), condition, "left", coPartitioned = true)
    for (n <- 0 until 20) {
      left.add(MemoryKafka.text(s"x$n"), "1,l")
      right.add(MemoryKafka.text(s"x$n"), "2,r")
    }
    val query = joined.writeStream.format("noop").start()
    try {
      query.processAllAvailable()
      val plan = query.asInstanceOf[StreamingQueryWrapper].streamingQuery.lastExecution.executedPlan
      assert(plan.collect { case moved: Exchange => moved }.isEmpty)
      val said = plan.toString
      assert(said.contains("no shuffle: partition by partition of the topics"))
      assert(said.contains("the partition that Kafka's default partitioner gives a.k = b.k"))
      val operator = query.recentProgress.head.stateOperators.head
      assert(operator.numShufflePartitions == 3 && operator.numStateStoreInstances == 3)
      assert(operator.customMetrics.get("joinedRows") == 20)
    } finally query.stop()
  }

  private def failure(df: DataFrame): StreamJoinRuntimeException = {
    val query = df.writeStream.format("noop").start()
    try {
      val e = intercept[StreamingQueryException](query.processAllAvailable())
      Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null)
        .collectFirst { case own: StreamJoinRuntimeException => own }.getOrElse(throw e)
    } finally query.stop()
  }

  test("a row that lies elsewhere fails the query, one without a key does not") {
    val ((a, left), (b, right)) = (topic(3), topic(3))
    val joined = join(read(a, "a", 1), read(b, "b", 1), condition, "full", coPartitioned = true)
    for (p <- 0 until 3) { left.addTo(p, null, s"$p,l"); right.addTo(p, null, s"$p,r") }
    val query = joined.writeStream.format("noop").start()
    try query.processAllAvailable()
    finally query.stop()
    for (p <- 0 until 3) right.addTo(p, MemoryKafka.text("foobar"), "7,r")
    val e = failure(joined)
    assert(e.getCondition == "STREAM_JOIN.MISPLACED_ROW")
    val said = e.getMessageParameters
    assert(said.get("side") == "right" && said.get("topics") == b && said.get("key") == "foobar")
    // (-790332482 & 0x7fffffff) % 3
    assert(said.get("expected") == "0" && said.get("partition") != "0")
    assert(said.get("partitions") == "3" && said.get("bytes") == "6")
  }

  test("topics of different numbers of partitions are refused, and one that has got more") {
    val ((a, left), (b, right)) = (topic(3), topic(2))
    left.add(MemoryKafka.text("x"), "1,l")
    right.add(MemoryKafka.text("x"), "2,r")
    val joined = join(read(a, "a", 1), read(b, "b", 1), condition, "left", coPartitioned = true)
    val e = failure(joined)
    assert(e.getCondition == "STREAM_JOIN.PARTITION_COUNT")
    assert(e.getMessage.contains(s"$b has 2 and $a has 3"))

    withTempDir { folder =>
      val ((c, more), (d, _)) = (topic(2), topic(2))
      def start() = join(read(c, "a", 1), read(d, "b", 1), condition, "left", coPartitioned = true)
        .writeStream.format("noop").option("checkpointLocation", folder.getCanonicalPath).start()
      more.add(MemoryKafka.text("x"), "1,l")
      val first = start()
      first.processAllAvailable()
      more.grow()
      more.add(MemoryKafka.text("y"), "2,l")
      // in this run, and in the next
      for (run <- Seq(() => first, () => start())) {
        val query = run()
        try {
          val e = intercept[StreamingQueryException](query.processAllAvailable())
          assert(e.getMessage.contains("PARTITION_COUNT"), e)
          assert(e.getMessage.contains(s"$c has 3, and had 2 when the query began"))
        } finally query.stop()
      }
    }
  }

  test("a checkpoint is of a join with a shuffle or of one without") {
    val ((a, left), (b, _)) = (topic(2), topic(2))
    withTempDir { folder =>
      def run(coPartitioned: Boolean): Unit = {
        left.add(MemoryKafka.text("x"), "1,l")
        val query = join(read(a, "a", 1), read(b, "b", 1), condition, "left", coPartitioned)
          .writeStream.format("noop").option("checkpointLocation", folder.getCanonicalPath).start()
        try query.processAllAvailable()
        finally query.stop()
      }
      run(coPartitioned = true)
      val e = intercept[StreamingQueryException](run(coPartitioned = false))
      assert(e.getMessage.contains("INCOMPATIBLE_CHECKPOINT"))
      run(coPartitioned = true)
    }
  }
}
