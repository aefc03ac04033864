package org.apache.spark.sql.streamjoin.physical.timed

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.model.{BySide, Side}

/**
 * Builds the output rows of late rows: the columns of their own input, NULL for those of the other,
 * and the reason.
 */
private[physical] final class LateRowOutput(
    late: LateSpec,
    spec: TimedJoinSpec,
    inputs: BySide[Seq[Attribute]]
) {

  private val names = spec.times.names.map(_.swap).toMap
  private val sides = BySide.of(new OneSide(_))
  private val withReason = new JoinedRow

  /** Reasons by column and watermark. All late rows of a column share one in a batch. */
  private val reasons = mutable.Map.empty[(Int, Long), InternalRow]

  def late(side: Side, row: UnsafeRow, column: Int, watermark: Long): InternalRow = {
    def reason =
      InternalRow(InternalRow(text(side.name), text(names(column)), written(column, watermark)))
    sides(side).explained(withReason(row, reasons.getOrElseUpdate((column, watermark), reason)))
  }

  def foundLate(side: Side, row: UnsafeRow): InternalRow = sides(side).passed(row)

  /** The watermark as text, in Spark's format for the type of the column. */
  private def written(column: Int, watermark: Long): UTF8String = {
    val value = spec.times.unit(column).literal(watermark)
    Cast(value, StringType, Some(late.zone)).eval().asInstanceOf[UTF8String]
  }

  private def text(s: String): UTF8String = UTF8String.fromString(s)

  private final class OneSide(side: Side) {
    private val own = inputs(side)

    val explained: UnsafeProjection =
      UnsafeProjection.create(columns(reason = late.rows.column), own :+ late.rows.column)

    val passed: UnsafeProjection = {
      val reasons = late.rows.below.flatMap(ofOwn)
      val reason =
        if (reasons.isEmpty) Literal(null, late.rows.column.dataType) else Coalesce(reasons)
      UnsafeProjection.create(columns(reason), own)
    }

    private def columns(reason: Expression): Seq[Expression] =
      spec.output.required.map(c =>
        if (c.exprId == late.rows.column.exprId) reason else ofOwn(c).getOrElse(keyFor(c))
      )

    private def ofOwn(column: Attribute): Option[Attribute] =
      own.find(_.exprId == column.exprId)

    /**
     * The value of a column of the other input: the key if the output has one column for both, else
     * NULL.
     */
    private def keyFor(column: Attribute): Expression =
      late.rows.sharedKeys.map(_.references).find(_.contains(column)).flatMap(both =>
        own.find(both.contains)
      ) match {
        case Some(key) if key.dataType == column.dataType => key
        case Some(key) => Cast(key, column.dataType, Some(late.zone), EvalMode.TRY)
        case None      => Literal(null, column.dataType)
      }
  }
}
