package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

import io.streamjoin.model.Watermarks

/**
 * What the driver tells the tasks of one batch about the source columns.
 *
 * @param arrivals for each source column, the largest value that the batch brought, or `Watermarks.Unknown` if none
 *   came; for a column of one of Spark's own operators always that
 * @param propagated Spark's watermark for the join's input at the end of the batch
 * @param batchTimeMs when the batch began, as recorded in the offset log
 */
private[physical] final case class BatchArrivals(
    arrivals: Seq[Long],
    propagated: Option[Long],
    batchTimeMs: Long
)

private[physical] object BatchArrivals {

  /** What a batch has brought, once the inputs have been run up to their shuffles. */
  def of(bases: Seq[BaseColumn], inputs: Seq[SparkPlan], batch: BatchInfo): BatchArrivals = {
    val noted = JoinInputs.arrivals(inputs)
    BatchArrivals(
      bases.map {
        case b: BaseColumn.Imposed    => noted.getOrElse(b.id, Watermarks.Unknown)
        case _: BaseColumn.Propagated => Watermarks.Unknown
      },
      batch.watermarkForEviction,
      batch.timeMs.getOrElse(
        throw new IllegalStateException("the batch has no recorded time; the plan cannot be run")
      )
    )
  }
}
