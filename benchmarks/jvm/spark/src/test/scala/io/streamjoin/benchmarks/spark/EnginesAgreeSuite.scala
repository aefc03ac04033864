package io.streamjoin.benchmarks.spark

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.Limit

/** On a few rows of each workload every engine gives what the bare loop gives. */
class EnginesAgreeSuite extends AnyFunSuite {

  private val orders = new Parameters(
    Map("rows" -> 6000, "batch" -> 3000, "window" -> 500, "lag" -> 200, "keys" -> 300)
      .map { case (name, value) => name -> value.toString }
  )
  private val auctions = new Parameters(Map("rows" -> "30000", "batch" -> "16000"))

  /** Several batches where an aggregation above a join has to keep what later ones may change. */
  private def nexmark(name: String): Workload =
    Workloads.of(name, if (Set("Q4", "Q9")(name)) auctions.but("batch" -> 4000) else auctions)
  private val left = Workloads.of("W1", orders.but("how" -> "left"))

  /** All variants, except variants that differ from another one only in sizes. */
  private val all: Seq[Workload] =
    Workloads.names.filterNot(Set("W1-catchup", "LAT", "N4")).filterNot(isChangelog).map {
      case name if name.startsWith("N") || name.startsWith("Q") => nexmark(name)
      case "W2"  => Workloads.of("W2", orders.but("behind" -> 700))
      case "V1"  => Workloads.of("V1", orders.but("lag" -> 5000, "how" -> "left"))
      case other => Workloads.of(other, orders)
    } ++ Seq(
      left,
      Workloads.of("W1-hot", orders.but("skew" -> "half", "window" -> 20)),
      Workloads.of("W1", orders.but("keyed" -> "no", "window" -> 2)),
      Workloads.of("W2", orders.but("idle" -> "yes", "behind" -> 0))
    )

  test("a batch join") {
    using("spark-batch")(engine => all.foreach(agrees(engine, _)))
  }

  test("this project's join; unmatched rows come in the batch that allows them") {
    using("streamjoin") { engine =>
      all.foreach(agrees(engine, _))
      assert(agrees(engine, left).details.toMap.apply("max_delay_batches") === 0)
    }
  }

  test("Spark's join; it refuses an input with two event times") {
    using("spark-heap") { engine =>
      assert(agrees(engine, left).details.toMap.apply("max_delay_batches") === 1)
      intercept[Refused](engine.run(Workloads.of("W3", orders)))
    }
  }

  test("Spark's joins in whole queries of Nexmark") {
    using("spark-heap")(engine =>
      Workloads.names.filter(_.startsWith("Q")).foreach(name => agrees(engine, nexmark(name)))
    )
  }

  for (format <- Seq("2", "3", "4-untracked"))
    test(s"Spark's join on RocksDB, state format $format") {
      using(s"spark-rocksdb-$format")(agrees(_, left))
    }

  test("a batch is one job, with a join and without; its account has all of it") {
    val parameters = orders.but("batch" -> 500, "account" -> "yes")
    val parts = Seq("shuffled", "union", "one").map(p => parameters.but("part" -> p))
    using("spark-batch")(engine => parts.foreach(p => agrees(engine, Workloads.of("LAT", p))))
    using("streamjoin") { engine =>
      for ((p, stages) <- (parameters +: parts).zip(Seq(2, 3, 1, 1))) {
        val account = agrees(engine, Workloads.of("LAT", p)).details.toMap.apply("account")
        val tables = account.asInstanceOf[Seq[(String, Seq[(String, Double)])]].toMap
        assert(tables("counts").toMap.apply("jobs") === 1)
        assert(tables("counts").toMap.apply("stages") === stages)
        assert(tables.values.forall(_.nonEmpty))
      }
    }
  }

  private val changelogs: Seq[Workload] = {
    val small = new Parameters(Map("rows" -> "4000", "batch" -> "1500"))
    Workloads.names.filter(n => n != "FLAT" && isChangelog(n)).map(Workloads.of(_, small)) ++ Seq(
      Workloads.of("U1", small.but("skew" -> "zipf")),
      Workloads.of("U2", small.but("keyed" -> "no")),
      Workloads.of("U1", small.but("sink" -> "table")),
      Workloads.of("U2", small.but("sink" -> "table")),
      Workloads.of("CH", small.but("first" -> "right"))
    )
  }

  test("changelogs: a batch join") {
    using("spark-batch")(engine => changelogs.foreach(agrees(engine, _)))
  }

  for (engine <- Seq("streamjoin", "streamjoin-rocksdb"))
    test(s"changelogs: $engine") {
      using(engine)(engine => changelogs.foreach(agrees(engine, _)))
    }

  test("what stands there comes in batches of its own, which do not count") {
    using("streamjoin") { engine =>
      val workload = Workloads.of(
        "U1",
        new Parameters(Map(
          "rows" -> "4300",
          "batch" -> "100",
          "keys" -> "4000",
          "standing" -> "4000"
        ))
      )
      val outcome = agrees(engine, workload)
      assert(outcome.batches.map(_.input).toSeq === Seq(8000, 400, 400, 400, 2))
    }
  }

  test("rows depend on nothing but the seed") {
    val (one, again, other) = (orders, orders.but("batch" -> 1500), orders.but("seed" -> 2))
    val sums = Seq(one, again, other).map(p => Limit.run(Workloads.of("W1", p)).result.sum)
    assert(sums(0) === sums(1))
    assert(sums(0) !== sums(2))
  }

  test("no row is late by the watermark of its input") {
    for (workload <- all; stream <- workload.streams) {
      val time = stream.indexOf(stream.time)
      val times = (0L until stream.rows).map(stream.value(_, time))
      val before = times.scanLeft(Long.MinValue)(math.max)
      assert(times.zip(before).forall { case (t, m) => m == Long.MinValue || t > m - stream.lag })
    }
  }

  private def isChangelog(name: String): Boolean =
    Workloads.of(name, new Parameters(Map("rows" -> "1000"))).isChangelog

  private def agrees(engine: Engine, workload: Workload): Outcome = {
    val expected = Limit.run(workload).result
    val outcome = engine.run(workload)
    assert(expected.rows > 0)
    assert(
      (outcome.result.rows, outcome.result.sum) === ((expected.rows, expected.sum)),
      s"${workload.name}, ${workload.parameters.values}"
    )
    outcome
  }

  private def using[T](engine: String)(use: Engine => T): T = {
    val created = SparkEngine.of(engine)
    try use(created)
    finally created.close()
  }
}
