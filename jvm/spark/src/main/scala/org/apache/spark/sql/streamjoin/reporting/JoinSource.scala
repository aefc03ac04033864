package org.apache.spark.sql.streamjoin.reporting

import com.codahale.metrics.{Gauge, MetricFilter, MetricRegistry}

import org.apache.spark.metrics.source.Source

import io.streamjoin.model.Side

/**
 * Metrics of the joins of one run of a query in Spark's metrics system, named
 * `streamjoin.<query>.<join>.<metric>`.
 *
 * A reading has the value of the last batch, and is removed with the first batch without it. A
 * counter has the sum since the query started, from which a rate can be computed.
 */
private[reporting] final class JoinSource(query: String) extends Source {

  override val sourceName: String = s"streamjoin.$query"

  override val metricRegistry: MetricRegistry = new MetricRegistry

  @volatile private var values = Map.empty[String, Long]

  /**
   * Adds the report of a batch. Registers metrics that are new. Removes readings of the join that
   * the report lacks, because an alert would take the old value for a current one.
   */
  def add(report: JoinReport): Unit = {
    val now =
      report.metrics.filterNot(m => JoinSource.isOfGroup(m._1)).map { case (metric, value) =>
        val name = s"${report.join}.$metric"
        name -> (if (JoinSource.isReading(metric)) value else values.getOrElse(name, 0L) + value)
      } ++ JoinSource.about(report).map { case (name, value) => s"${report.join}.$name" -> value }
    val added = now.keySet -- values.keySet
    val ofJoin = s"${report.join}."
    val gone = (values.keySet -- now.keySet).filter { name =>
      name.startsWith(ofJoin) && JoinSource.isReading(name.stripPrefix(ofJoin))
    }
    gone.foreach(metricRegistry.remove)
    values = values -- gone ++ now
    added.foreach { name =>
      val gauge: Gauge[Long] = () => values.getOrElse(name, 0L)
      metricRegistry.register(name, gauge)
    }
  }

  /** Removes all metrics, from Spark's metrics system as well. */
  def clear(): Unit = metricRegistry.removeMatching(MetricFilter.ALL)
}

private[streamjoin] object JoinSource {

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

  /**
   * Metrics that identify the join. `inputs.<left>.<right>` is always 1: its name has the
   * information.
   */
  private def about(report: JoinReport): Seq[(String, Long)] = Seq(
    "batch" -> report.batch,
    "unmatchedOnly" -> (if (report.names.unmatchedOnly) 1L else 0L)
  ) ++ report.aliases.map(a => s"inputs.${a(Side.Left)}.${a(Side.Right)}" -> 1L)

  /**
   * Whether a metric has the name of a group of rows. Such names come and go, and a metrics system
   * keeps each of them.
   */
  private def isOfGroup(metric: String): Boolean =
    Seq("groupWatermark.", "groupSilent.").exists(metric.startsWith)

  /** Whether a metric is a reading, not a count of a batch. No metric of a column is a count. */
  def isReading(metric: String): Boolean = readings(metric) || metric.contains('.')
}
