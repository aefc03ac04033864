package io.streamjoin.benchmarks.spark

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.Limit

/** On a few rows of each workload every engine gives what the bare loop gives. */
class EnginesAgreeSuite extends AnyFunSuite {

  private val orders = new Parameters(
    Map("rows" -> 6000, "batch" -> 2000, "window" -> 500, "lag" -> 200, "keys" -> 300)
      .map { case (name, value) => name -> value.toString }
  )
  private val auctions = new Parameters(Map("rows" -> "30000", "batch" -> "16000"))
  private val left = "W1" -> orders.but("how" -> "left")

  private val all: Seq[(String, Parameters)] =
    Workloads.names.map {
      case nexmark if nexmark.startsWith("N") => nexmark -> auctions
      case "W2"                               => "W2" -> orders.but("behind" -> 700)
      case other                              => other -> orders
    } ++ Seq(
      left,
      "W1-hot" -> orders.but("skew" -> "half", "window" -> 20),
      "W2" -> orders.but("idle" -> "yes", "behind" -> 0)
    )

  test("a batch join") {
    all.foreach(agrees("spark-batch", _))
  }

  test("this project's join, unmatched rows in the batch that allows them") {
    all.foreach(agrees("streamjoin", _))
    assert(agrees("streamjoin", left).details.toMap.apply("max_delay_batches") === 0)
  }

  for (
    engine <- Seq("spark-heap", "spark-rocksdb-2", "spark-rocksdb-3", "spark-rocksdb-4-untracked")
  )
    test(engine) {
      assert(agrees(engine, left).details.toMap.apply("max_delay_batches") === 1)
    }

  test("Spark's join refuses an input with two event times") {
    intercept[Refused](run("spark-heap", "W3" -> orders))
  }

  test("rows depend on nothing but the seed") {
    val (one, again, other) = (orders, orders.but("batch" -> 1500), orders.but("seed" -> 2))
    val sums = Seq(one, again, other).map(p => Limit.run(Workloads.of("W1", p)).result.sum)
    assert(sums(0) === sums(1))
    assert(sums(0) !== sums(2))
  }

  test("no row is late by the watermark of its input") {
    for ((name, parameters) <- all; stream <- Workloads.of(name, parameters).streams) {
      val time = stream.indexOf(stream.time)
      val times = (0L until stream.rows).map(stream.value(_, time))
      val before = times.scanLeft(Long.MinValue)(math.max)
      assert(times.zip(before).forall { case (t, m) => m == Long.MinValue || t > m - stream.lag })
    }
  }

  private def agrees(engine: String, named: (String, Parameters)): Outcome = {
    val expected = Limit.run(Workloads.of(named._1, named._2)).result
    val outcome = run(engine, named)
    val sums = (outcome.result.rows, outcome.result.sum)
    assert(expected.rows > 0)
    assert(sums === ((expected.rows, expected.sum)), s"$engine on $named")
    outcome
  }

  private def run(engine: String, named: (String, Parameters)): Outcome = {
    val created = SparkEngine.of(engine, named._1)
    try created.run(Workloads.of(named._1, named._2))
    finally created.close()
  }
}
