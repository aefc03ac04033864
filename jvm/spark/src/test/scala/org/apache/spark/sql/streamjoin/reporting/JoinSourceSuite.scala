package org.apache.spark.sql.streamjoin.reporting

import java.util.UUID

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streamjoin.physical.stateful.shown.DisplayNames

import io.streamjoin.model.BySide

/** Metrics over batches: the last value of a gauge, the sum of a counter. */
class JoinSourceSuite extends AnyFunSuite {

  private val source = new JoinSource("orders")

  private def figures: Map[String, Any] =
    source.metricRegistry.getGauges.asScala.map { case (name, gauge) =>
      name -> gauge.getValue
    }.toMap

  test("gauges have the value of the last batch, counters are summed") {
    for (batch <- 0L to 2L) source.add(
      JoinReport(
        "orders",
        new UUID(0, 0),
        batch,
        join = 0,
        Map("inputRowsLeft" -> 10L, "bufferedRowsLeft" -> 7L, "hotKeys" -> 2L, "lag.dt" -> 60000L)
      )
    )
    assert(
      figures == Map(
        "0.batch" -> 2L,
        "0.unmatchedOnly" -> 0L,
        "0.inputRowsLeft" -> 30L,
        "0.bufferedRowsLeft" -> 7L,
        "0.hotKeys" -> 2L,
        "0.lag.dt" -> 60000L
      )
    )
  }

  test("the number of groups is a gauge, and no metric has the name of a group") {
    val own = new JoinSource("orders")
    for (batch <- 0L to 1L) own.add(
      JoinReport(
        "orders",
        new UUID(0, 0),
        batch,
        join = 0,
        Map("groups.t" -> 12L, "groupWatermark.t.7" -> 1000L, "groupSilent.t.7" -> 5L)
      )
    )
    val found = own.metricRegistry.getGauges.asScala.map { case (n, gauge) => n -> gauge.getValue }
    assert(found.toMap == Map("0.batch" -> 1L, "0.unmatchedOnly" -> 0L, "0.groups.t" -> 12L))
  }

  test("an anti join sets unmatchedOnly, and a metric name contains the aliases of the inputs") {
    def about(left: String, right: String, unmatchedOnly: Boolean): Set[String] = {
      val names = DisplayNames(BySide(left, right), Map.empty, unmatchedOnly)
      val own = new JoinSource("orders")
      own.add(JoinReport("orders", new UUID(0, 0), 0, join = 1, Map.empty, names))
      own.metricRegistry.getGauges.asScala.collect {
        case (name, g) if g.getValue == 1L => name
      }.toSet
    }
    assert(about("o", "d", unmatchedOnly = true) == Set("1.unmatchedOnly", "1.inputs.o.d"))
    assert(about("the left input (o, d)", "r", unmatchedOnly = false) == Set("1.inputs.o_d.r"))
    assert(about("the left input", "r", unmatchedOnly = false).isEmpty)
  }
}
