package org.apache.spark.sql.streamjoin.reporting

import com.codahale.metrics.{Gauge, MetricFilter, MetricRegistry}

import org.apache.spark.metrics.source.Source

/**
 * The figures of the joins of one run of a query, in Spark's metrics system: `streamjoin.<query>`, and
 * in it `<join>.<figure>`. Readings are of the last batch; counts are sums since the query started, so
 * that a rate can be made of them.
 */
private[reporting] final class JoinSource(query: String) extends Source {

  override val sourceName: String = s"streamjoin.$query"

  override val metricRegistry: MetricRegistry = new MetricRegistry

  @volatile private var values = Map.empty[String, Long]

  /** Figures that there were not before are registered; Spark's metrics system hears of them. */
  def add(report: JoinReport): Unit = {
    val now = report.metrics.map { case (metric, value) =>
      val name = s"${report.join}.$metric"
      name -> (if (JoinSource.isReading(metric)) value else values.getOrElse(name, 0L) + value)
    } + (s"${report.join}.batch" -> report.batch)
    val added = now.keySet -- values.keySet
    values ++= now
    added.foreach { name =>
      val gauge: Gauge[Long] = () => values.getOrElse(name, 0L)
      metricRegistry.register(name, gauge)
    }
  }

  /** Its figures are no more, in Spark's metrics system either. */
  def clear(): Unit = metricRegistry.removeMatching(MetricFilter.ALL)
}

private[reporting] object JoinSource {

  private val readings = Set(
    "batch",
    "bufferedRowsLeft",
    "bufferedRowsRight",
    "spilledBytes",
    "numRowsTotal",
    "memoryUsedBytes",
    "closestMiss",
    "hotKeys"
  )

  private val ofColumns = Seq(
    "watermark.",
    "delay.",
    "lag.",
    "latestBy.",
    "disorder.",
    "lagForMost.",
    "lagForAll.",
    "disorderRows."
  )

  /** Whether a figure says what there is, rather than what a batch did. */
  def isReading(metric: String): Boolean =
    readings(metric) || ofColumns.exists(metric.startsWith)
}
