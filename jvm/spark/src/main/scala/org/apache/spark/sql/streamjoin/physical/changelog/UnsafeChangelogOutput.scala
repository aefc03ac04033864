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
import org.apache.spark.unsafe.types.UTF8String

import io.streamjoin.join.changelog.{ChangeKind, Changed, ChangelogOutput}
import io.streamjoin.model.Side

/**
 * Output rows as Spark wants them, with the columns that are asked for. Code is written by need, for many a
 * batch gives nothing.
 *
 * @param version the number of the batch
 * @param nowMs the recorded time of the batch
 */
private[changelog] final class UnsafeChangelogOutput(
    spec: ChangelogSpec,
    version: Long,
    nowMs: Long
) extends ChangelogOutput[UnsafeRow, UnsafeRow] {

  private val leftOnly = spec.joinType.leftOnly

  private val (left, right) = (spec.left.storedColumns, spec.right.storedColumns)

  private def nullable(some: Seq[Attribute]) = some.map(_.withNullability(true))

  private val columns = nullable(if (leftOnly) left else left ++ right)

  private lazy val project = UnsafeProjection.create(nullable(spec.data), columns)

  private lazy val wanted = spec.wanted.map(Predicate.create(_, columns))

  private def emitted(row: InternalRow): Option[UnsafeRow] =
    Option.when(wanted.forall(_.eval(row)))(project(row).copy())

  private def keyProjection = UnsafeProjection.create(nullable(spec.outputKey), nullable(spec.data))

  private lazy val keyOf = Option.when(spec.outputKey.nonEmpty)(keyProjection)

  private val pair = new JoinedRow
  private val nullLeft = new GenericInternalRow(left.length)
  private val nullRight = new GenericInternalRow(right.length)

  override def joined(l: UnsafeRow, r: UnsafeRow): Option[UnsafeRow] = emitted(pair(l, r))

  override def alone(side: Side, row: UnsafeRow): Option[UnsafeRow] =
    if (leftOnly) emitted(row)
    else emitted(if (side == Side.Left) pair(row, nullRight) else pair(nullLeft, row))

  override def key(row: UnsafeRow): Option[AnyRef] = keyOf.map(_(row).copy())

  private lazy val otherKeyOf = keyOf.map(_ => keyProjection)

  override def sameKey(a: UnsafeRow, b: UnsafeRow): Boolean =
    keyOf.nonEmpty && keyOf.get(a) == otherKeyOf.get(b)

  private lazy val whole =
    UnsafeProjection.create(nullable(spec.required), nullable(spec.data) ++ spec.changes)

  private val withWords = new JoinedRow

  private val words: Map[ChangeKind, InternalRow] = ChangeKind.all.map { kind =>
    kind -> InternalRow(UTF8String.fromString(kind.name), version, nowMs * 1000L)
  }.toMap

  /** The row that comes out; each overwrites the one before. */
  def row(changed: Changed[UnsafeRow]): InternalRow =
    whole(withWords(changed.row, words(changed.kind)))
}
