package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  InterpretedUnsafeProjection,
  JoinedRow,
  Literal,
  Predicate,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.streamjoin.physical.consolidate.CopiedColumns
import org.apache.spark.sql.streamjoin.physical.exchange.RowsByBytes

import io.streamjoin.join.changelog.{Changed, ChangelogOutput}
import io.streamjoin.model.Side

/**
 * Factory of output rows in the format of Spark, with the required columns. It copies the columns
 * of the stored rows, and leaves room for the change metadata, which is known last. Code is
 * generated on first use, as many batches have no output.
 *
 * @param version the number of the batch
 * @param nowMs its recorded time
 */
private[changelog] final class UnsafeChangelogOutput(
    spec: ChangelogSpec,
    version: Long,
    nowMs: Long
) extends ChangelogOutput[UnsafeRow, UnsafeRow] {

  private val leftOnly = spec.on.joinType.leftOnly

  private val (left, right) = (spec.left.storedColumns, spec.right.storedColumns)

  private def nullable(some: Seq[Attribute]) = some.map(_.withNullability(true))

  private val metadata = new ChangeMetadataWriter(spec, version, nowMs * 1000L)

  private val columns =
    CopiedColumns.of(
      spec.output.columns,
      left,
      if (leftOnly) Nil else right,
      spare = ChangeMetadataWriter.Spare
    )

  private lazy val wanted = spec.output.rows.map {
    Predicate.create(_, nullable(if (leftOnly) left else left ++ right))
  }

  private val pair = new JoinedRow

  private def emitted(l: UnsafeRow, r: UnsafeRow): Option[UnsafeRow] =
    Option.when(wanted.forall(_.eval(pair(l, r))))(columns(l, r))

  private lazy val nullLeft = nothing(left)
  private lazy val nullRight = nothing(right)

  private def nothing(columns: Seq[Attribute]): UnsafeRow =
    InterpretedUnsafeProjection.createProjection(columns.map(a => Literal(null, a.dataType)))(
      InternalRow.empty
    ).copy()

  override def joined(l: UnsafeRow, r: UnsafeRow): Option[UnsafeRow] = emitted(l, r)

  override def alone(side: Side, row: UnsafeRow): Option[UnsafeRow] =
    if (side == Side.Left) emitted(row, if (leftOnly) row else nullRight)
    else emitted(nullLeft, row)

  private lazy val keyOf = Option.when(spec.output.key.nonEmpty)(
    UnsafeProjection.create(nullable(spec.output.key), nullable(spec.output.columns))
  )

  override def key(row: UnsafeRow): Option[AnyRef] = keyOf.map(_(row).copy())

  private lazy val byKey = RowsByBytes.of(spec.output.key, spec.output.columns)

  override def sameKey(a: UnsafeRow, b: UnsafeRow): Boolean =
    spec.output.key.nonEmpty && byKey.equiv(a, b)

  /** Completes an output row with its change metadata. */
  def row(changed: Changed[UnsafeRow]): InternalRow = {
    metadata.write(changed.row, changed.kind)
    changed.row
  }
}
