package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{JoinDistribution, StoredLayout}

import io.streamjoin.join.ordered.OrderOperator
import io.streamjoin.model.{BySide, Side}
import io.streamjoin.placement.Routing

/** How an ordered output stores rows. Each is emitted when the stored limit has passed its time. */
private[ordered] final class OrderLayout(
    spec: OrderSpec,
    columns: Seq[Attribute],
    description: JoinDescription
) extends StoredLayout(
      description,
      Routing.ByKey,
      BySide.of(side => if (side == OrderOperator.BufferSide) columns else Nil),
      BySide.of(_ => JoinDistribution.orOnePartition(JoinDistribution.hashable(columns)))
    ) {

  override def required(side: Side): Seq[Attribute] = spec.time.references.toSeq

  override def reader(): StoredLayout.Reader = new StoredLayout.Reader {
    private val rows = new TimedRows(spec, columns)

    override def apply(side: Side, row: UnsafeRow, matched: Boolean): StoredLayout.Place = {
      val time = rows.time(row)
      StoredLayout.Place(0L, time, Array(time), canMatch = true)
    }
  }
}
