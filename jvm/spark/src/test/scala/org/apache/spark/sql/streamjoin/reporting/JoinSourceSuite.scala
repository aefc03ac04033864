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

  test("a reading that the last report of its join lacks is removed, a counter stays") {
    val own = new JoinSource("orders")
    def shown(batch: Long, join: Int, metrics: (String, Long)*): Set[String] = {
      own.add(JoinReport("orders", new UUID(0, 0), batch, join, metrics.toMap))
      own.metricRegistry.getGauges.asScala.keySet.toSet
    }
    val readings = Seq("closestMiss" -> 5L, "hotKeys" -> 2L, "completeFrom.dt" -> 1000L)
    shown(0, 1, readings :+ ("joinedRows" -> 3L): _*)
    val both = shown(0, 0, readings: _*)
    assert(readings.forall { case (name, _) => both(s"0.$name") && both(s"1.$name") })
    val about = Set("1.batch", "1.unmatchedOnly", "1.joinedRows")
    assert(shown(1, 1).filter(_.startsWith("1.")) == about)
    assert(own.metricRegistry.getGauges.containsKey("0.hotKeys"))
    assert(shown(2, 1, "hotKeys" -> 4L).contains("1.hotKeys"))
    assert(own.metricRegistry.getGauges.get("1.hotKeys").getValue == 4L)
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
