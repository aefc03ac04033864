package org.apache.spark.sql.streamjoin.checkpoint.pending

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, Literal}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.streamjoin.checkpoint.{StoredRow, StoredTime}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.Watermarks

/**
 * Converts the stored rows of one side of a join to the columns of the result.
 *
 * @param called value of the column `side`
 * @param byTime whether rows are probed by a time, not by row identity
 * @param limitType type of the limits; a string if they have several types
 * @param expressions from [[values]] to the columns of the result
 */
private[pending] final case class PendingSide(
    called: String,
    notesMatches: Boolean,
    byTime: Boolean,
    timeType: DataType,
    limits: Seq[StoredTime],
    limitType: DataType,
    zone: String,
    expressions: Seq[Expression]
) {

  /** Values in the order of the columns of `PendingShape`. */
  def values(
      batch: Long,
      operator: Long,
      partition: Option[Int],
      stored: StoredRow,
      watermark: Int => Long
  ): InternalRow = {
    val all = limits.indices.map { k =>
      Seq[Any](
        UTF8String.fromString(limits(k).name),
        limit(k, stored.limits(k)),
        limit(k, watermark(k))
      )
    }
    val next = nearest(stored, watermark).fold(Seq.fill[Any](3)(null))(all)
    InternalRow.fromSeq(
      Seq[Any](
        batch,
        operator,
        partition.map(Int.box).orNull,
        UTF8String.fromString(called),
        if (byTime) typed(stored.time, timeType) else null
      ) ++ next ++ Seq[Any](
        if (notesMatches) stored.matched else null,
        new GenericArrayData(all.map(InternalRow.fromSeq(_))),
        stored.row
      )
    )
  }

  /** The limit closest to its watermark, of those with the unit of the first one. */
  private def nearest(stored: StoredRow, watermark: Int => Long): Option[Int] = {
    def unit(k: Int) = TimeUnit.of(limits(k).dataType)
    limits.indices.filter(unit(_) == unit(0)).minByOption { k =>
      if (watermark(k) == Watermarks.Unknown) Long.MaxValue
      else Saturated.subtract(stored.limits(k), watermark(k))
    }
  }

  /** NULL if there is no watermark yet, or none that would evict the row. */
  private def limit(k: Int, value: Long): Any =
    if (value == Watermarks.Unknown || value == Long.MaxValue) null
    else {
      val own = PendingSide.limitType(limits(k))
      val shown = typed(value, own)
      if (limitType == own) shown else Cast(Literal(shown, own), limitType, Some(zone)).eval()
    }

  private def typed(value: Long, as: DataType): Any = as match {
    case DateType    => math.max(Int.MinValue, math.min(Int.MaxValue, value)).toInt
    case IntegerType => value.toInt
    case ShortType   => value.toShort
    case ByteType    => value.toByte
    case _           => value
  }
}

private[pending] object PendingSide {

  /**
   * Type of a limit. A limit of integers is a sum, and may exceed the range of the column's type.
   */
  def limitType(time: StoredTime): DataType =
    if (TimeUnit.of(time.dataType).contains(TimeUnit.Number)) LongType else time.dataType
}
