package org.apache.spark.sql.streamjoin.logical.times

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.types.{DataType, TimestampType}

import io.streamjoin.bounds.Saturated

/**
 * Limit of how far an event time may be ahead of its batch. A later time is not accepted: it moves
 * no watermark.
 *
 * @param micros the distance in microseconds
 * @param rejects whether the row is dropped as well
 */
private[streamjoin] final case class MaxAhead(micros: Long, rejects: Boolean) {

  /** The latest time that a batch accepts, in the unit of the column. */
  def latest(unit: TimeUnit, batchTime: BatchTime): Long = {
    val micros = Saturated.add(batchTime.micros, this.micros)
    if (unit == TimeUnit.Date) Math.floorDiv(micros, MICROS_PER_DAY) else micros
  }
}

/**
 * The start time of the batch. Spark replaces `clock` with the recorded time of each batch, so that
 * a retried batch uses the same time.
 *
 * The expression counts as deterministic. Spark's own expression does not, and Spark would compute
 * it in a projection below.
 */
private[streamjoin] final case class BatchTime(clock: Expression)
    extends UnaryExpression
    with Unevaluable {

  override lazy val deterministic: Boolean = true

  override def child: Expression = clock

  override def dataType: DataType = clock.dataType

  override def nullable: Boolean = false

  /** Valid once planned. */
  def micros: Long = clock match {
    case Literal(micros: Long, _) => micros
    case other => throw new IllegalStateException(s"${other.sql} is not the time of a batch")
  }

  override protected def withNewChildInternal(newChild: Expression): BatchTime = BatchTime(newChild)
}

private[streamjoin] object BatchTime {

  /** The time to compare with values of a type. Types without a time zone use the session's. */
  def forType(dataType: DataType): BatchTime =
    BatchTime(if (dataType == TimestampType) CurrentTimestamp() else LocalTimestamp())
}
