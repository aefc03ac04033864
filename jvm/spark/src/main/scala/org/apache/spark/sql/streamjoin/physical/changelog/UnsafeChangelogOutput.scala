package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  GenericInternalRow,
  JoinedRow,
  Predicate,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.streamjoin.physical.exchange.RowsByBytes
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.join.changelog.{ChangeKind, Changed, ChangelogOutput}
import io.streamjoin.model.Side

/**
 * Factory of output rows in the format of Spark, with the required columns. The change metadata is
 * known last, so a row gets it when it is emitted. Code is generated on first use, as many batches
 * have no output.
 *
 * @param version the number of the batch
 * @param nowMs its recorded time
 */
private[changelog] final class UnsafeChangelogOutput(
    spec: ChangelogSpec,
    version: Long,
    nowMs: Long
) extends ChangelogOutput[UnsafeRow, UnsafeRow] {

  private def nullable(some: Seq[Attribute]) = some.map(_.withNullability(true))

  private val (left, right) = (spec.left.storedColumns, spec.right.storedColumns)

  private val inputs = nullable(if (spec.on.joinType.leftOnly) left else left ++ right)

  /** The columns of a row before it gets its change metadata. */
  private val columns = nullable(
    spec.output.columns.filterNot(a => spec.output.changes.exists(_.exprId == a.exprId))
  )

  private lazy val ofInputs = UnsafeProjection.create(columns, inputs)

  private lazy val wanted = spec.output.rows.map(Predicate.create(_, inputs))

  private val pair = new JoinedRow

  private def emitted(both: InternalRow): Option[UnsafeRow] =
    Option.when(wanted.forall(_.eval(both)))(ofInputs(both).copy())

  private val nullLeft = new GenericInternalRow(left.length)
  private val nullRight = new GenericInternalRow(right.length)

  private def padded(side: Side, row: UnsafeRow): InternalRow =
    if (side == Side.Left) pair(row, nullRight) else pair(nullLeft, row)

  override def joined(l: UnsafeRow, r: UnsafeRow): Option[UnsafeRow] = emitted(pair(l, r))

  override def alone(side: Side, row: UnsafeRow): Option[UnsafeRow] = emitted(padded(side, row))

  override def identifiedBy(side: Side): Boolean = spec.identifiedBy(side)

  override def ofKey(side: Side, row: UnsafeRow): UnsafeRow = ofInputs(padded(side, row)).copy()

  private lazy val keyOf =
    Option.when(spec.output.key.nonEmpty)(UnsafeProjection.create(spec.output.key, columns))

  override def key(row: UnsafeRow): Option[AnyRef] = keyOf.map(_(row).copy())

  private lazy val byKey = RowsByBytes.of(spec.output.key, columns)

  override def sameKey(a: UnsafeRow, b: UnsafeRow): Boolean =
    spec.output.key.nonEmpty && byKey.equiv(a, b)

  private val metadata: Map[ChangeKind, InternalRow] = ChangeKind.all.map { kind =>
    kind -> InternalRow(UTF8String.fromString(kind.name), version, nowMs * 1000L)
  }.toMap

  private val isComplete = columns.length == spec.output.columns.length

  private lazy val complete =
    UnsafeProjection.create(spec.output.columns, columns ++ spec.output.changes)

  /** Completes an output row with its change metadata. The next row overwrites it. */
  def row(changed: Changed[UnsafeRow]): InternalRow =
    if (isComplete) changed.row
    else complete(pair(changed.row, metadata(changed.kind)))
}
