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
  private val left = Workloads.of("W1", orders.but("how" -> "left"))

  /** All but those that differ from another one in their sizes only. */
  private val all: Seq[Workload] =
    Workloads.names.filterNot(Set("W1-catchup", "LAT", "N4")).map {
      case nexmark if nexmark.startsWith("N") => Workloads.of(nexmark, auctions)
      case "W2"                               => Workloads.of("W2", orders.but("behind" -> 700))
      case other                              => Workloads.of(other, orders)
    } ++ Seq(
      left,
      Workloads.of("W1-hot", orders.but("skew" -> "half", "window" -> 20)),
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

  for (format <- Seq("2", "3", "4-untracked"))
    test(s"Spark's join on RocksDB, state format $format") {
      using(s"spark-rocksdb-$format")(agrees(_, left))
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
