package org.apache.spark.sql.streamjoin.reporting

import java.util.UUID

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

/** Figures over batches: what there is, and what was done. */
class JoinSourceSuite extends AnyFunSuite {

  private val source = new JoinSource("orders")

  private def figures: Map[String, Any] =
    source.metricRegistry.getGauges.asScala.map { case (name, gauge) =>
      name -> gauge.getValue
    }.toMap

  test("readings are those of the last batch, counts are summed") {
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
        "0.inputRowsLeft" -> 30L,
        "0.bufferedRowsLeft" -> 7L,
        "0.hotKeys" -> 2L,
        "0.lag.dt" -> 60000L
      )
    )
  }
}
