package org.apache.spark.sql.streamjoin.logical.times

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.types.{DataType, TimestampType}

import io.streamjoin.bounds.Saturated

/**
 * How far an event time may be ahead of the batch that brings it. A time that is further ahead is not
 * believed: it moves no watermark.
 *
 * @param micros the distance, in microseconds
 * @param rejects whether the row is dropped too
 */
private[streamjoin] final case class MaxAhead(micros: Long, rejects: Boolean) {

  /** The latest time that a batch believes, in the unit of the column. */
  def latest(unit: TimeUnit, batchTime: BatchTime): Long = {
    val micros = Saturated.add(batchTime.micros, this.micros)
    if (unit == TimeUnit.Date) Math.floorDiv(micros, MICROS_PER_DAY) else micros
  }
}

/**
 * When the batch began: Spark puts the recorded time of each batch in the place of `clock`, so a batch
 * that is run again sees the same.
 *
 * It counts as deterministic, which Spark's time of the batch does not: Spark would compute it in a
 * projection below.
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

  /** The time that values of a type are held against: those without a zone are in the session's. */
  def forType(dataType: DataType): BatchTime =
    BatchTime(if (dataType == TimestampType) CurrentTimestamp() else LocalTimestamp())
}
