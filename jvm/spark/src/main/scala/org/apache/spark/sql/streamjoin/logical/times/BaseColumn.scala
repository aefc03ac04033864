package org.apache.spark.sql.streamjoin.logical.times

import java.util.UUID

import org.apache.spark.sql.streamjoin.conditions.TimeUnit

import io.streamjoin.model.Watermarks

/** The origin of a watermark. */
private[streamjoin] sealed trait BaseColumn extends Serializable {
  def name: String
  def unit: TimeUnit

  /** Whether this project's own syntax declares it. */
  def imposed: Boolean
}

private[streamjoin] object BaseColumn {

  /**
   * A column with an imposed order, or with Spark's own watermark.
   *
   * @param per the names of the columns that divide its rows into groups, each with a watermark
   * @param sparkDelay lag of Spark's own watermark on this column, in the unit of the column
   */
  final case class Imposed(
      id: UUID,
      name: String,
      unit: TimeUnit,
      lag: Long,
      idleTimeoutMs: Option[Long],
      per: Seq[String],
      imposed: Boolean,
      maxAhead: Option[MaxAhead],
      sparkDelay: Option[Long]
  ) extends BaseColumn

  /**
   * A column of one of Spark's stateful operators below the join, with the watermark that Spark
   * propagates.
   *
   * @param imposed whether an order is imposed below that operator
   */
  final case class Propagated(name: String, unit: TimeUnit, imposed: Boolean) extends BaseColumn

  /**
   * Lower limits of these watermarks while Spark's watermark is 0.
   *
   * For each column, Spark's watermark is at most the largest time minus Spark's delay. So a keyed
   * watermark is at least Spark's delay minus its own lag.
   */
  def besideSparks(bases: Seq[BaseColumn]): Array[Long] = bases.map {
    case b: Imposed    => b.sparkDelay.fold(Watermarks.Unknown)(d => math.min(0L, d - b.lag))
    case _: Propagated => 0L
  }.toArray
}
