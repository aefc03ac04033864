package org.apache.spark.sql.streamjoin.checkpoint.pending

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  Cast,
  Expression,
  Literal,
  StructsToJson
}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.streamjoin.checkpoint.{StoredGroupColumns, StoredRow, StoredTime}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.Watermarks

/**
 * Converts the stored rows of one side of a join to the columns of the result.
 *
 * @param called value of the column `side`
 * @param time type of the time by which rows are probed; none if it is by row identity
 * @param groups the groups of the column of each limit, for those that have groups
 * @param rows columns of the rows
 * @param schema columns of the result
 */
private[pending] final case class PendingSide(
    called: String,
    notesMatches: Boolean,
    time: Option[DataType],
    limits: Seq[StoredTime],
    groups: Seq[Option[StoredGroupColumns]],
    rows: StructType,
    schema: StructType,
    zone: String
) {

  /** From [[values]] to the columns of the result. */
  def expressions: Seq[Expression] = schema.fields.toSeq.zipWithIndex.map { case (column, i) =>
    def value(dataType: DataType) = BoundReference(i, dataType, nullable = true)
    if (column.name == "row" && column.dataType == StringType)
      StructsToJson(Map("ignoreNullFields" -> "false"), value(rows), Some(zone)).replacement
    else value(column.dataType)
  }

  /** Values in the order of the columns, with the row itself as it is stored. */
  def values(
      batch: Long,
      operator: Long,
      partition: Option[Int],
      stored: StoredRow,
      watermark: Int => Long,
      slowest: StoredGroupColumns => Option[UTF8String]
  ): InternalRow = {
    val all = limits.indices.map { k =>
      Seq[Any](
        UTF8String.fromString(limits(k).name),
        limit(k, stored.limits(k)),
        limit(k, watermark(k))
      )
    }
    val next = nearest(stored, watermark)
    InternalRow.fromSeq(
      Seq[Any](
        batch,
        operator,
        partition.map(Int.box).orNull,
        UTF8String.fromString(called),
        time.map(shown(stored.time, _, "time")).orNull
      ) ++ next.fold(Seq.fill[Any](3)(null))(all) ++ Seq[Any](
        next.flatMap(groups).flatMap(slowest).orNull,
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
    else shown(value, PendingSide.limitType(limits(k)), "expires")

  /** A time of a type, as in a column that may be a string. */
  private def shown(value: Long, own: DataType, column: String): Any = {
    val to = schema(column).dataType
    val time = typed(value, own)
    if (to == own) time else Cast(Literal(time, own), to, Some(zone)).eval()
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
