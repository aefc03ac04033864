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
 * How the rows of one side of a join are shown.
 *
 * @param called what stands in the column `side`
 * @param byTime whether a row is found by a time, not by what tells it apart
 * @param limitType of the limits, a text where they differ
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

  /** In the order of the columns of `PendingShape`. */
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

  /** The limit that its watermark is closest to, of those that can be compared with the first. */
  private def nearest(stored: StoredRow, watermark: Int => Long): Option[Int] = {
    def unit(k: Int) = TimeUnit.of(limits(k).dataType)
    limits.indices.filter(unit(_) == unit(0)).minByOption { k =>
      if (watermark(k) == Watermarks.Unknown) Long.MaxValue
      else Saturated.subtract(stored.limits(k), watermark(k))
    }
  }

  /** None where there is no watermark yet, or no watermark that would free the row. */
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

  /** A limit is a sum: one of whole numbers may go beyond the type of the column. */
  def limitType(time: StoredTime): DataType =
    if (TimeUnit.of(time.dataType).contains(TimeUnit.Number)) LongType else time.dataType
}
