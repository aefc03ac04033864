package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BindReferences,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.streamjoin.physical.stateful.times.TimeReader

import io.streamjoin.join.ordered.OrderedRows

/** Reads the event time of a row, from a column or a computed expression. */
private[ordered] final class TimedRows(spec: OrderSpec, output: Seq[Attribute])
    extends OrderedRows[UnsafeRow] {

  private val read = TimeReader.of(spec.time.dataType)

  private val (ordinal, values): (Int, InternalRow => InternalRow) = spec.time match {
    case a: Attribute => (output.indexWhere(_.exprId == a.exprId), identity)
    case computed =>
      (0, UnsafeProjection.create(Seq(BindReferences.bindReference(computed, output))))
  }

  override def isTimeless(row: UnsafeRow): Boolean = values(row).isNullAt(ordinal)

  override def time(row: UnsafeRow): Long = read(values(row), ordinal)
}
