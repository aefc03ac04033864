package org.apache.spark.sql.streamjoin.physical.asof

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{JoinDistribution, StoredLayout}

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.placement.Routing

/** How an as-of join stores rows. The flag says that a build row is settled, so all of them stay. */
private[asof] final class AsOfLayout(
    spec: AsOfSpec,
    inputs: BySide[Seq[Attribute]],
    description: JoinDescription
) extends StoredLayout(
      description,
      Routing.ByKey,
      inputs,
      BySide.of(side => JoinDistribution.orOnePartition(spec.join.keys(side)))
    ) {

  override def required(side: Side): Seq[Attribute] =
    (spec.join.keys(side).flatMap(_.references) :+ spec.times(side)).distinct

  override def reader(): StoredLayout.Reader = new StoredLayout.Reader {
    private val rows = new UnsafeAsOfRows(spec, inputs)

    override def apply(side: Side, row: UnsafeRow, matched: Boolean): StoredLayout.Place = {
      val time = rows.time(side, row)
      val limit = spec.bounds.evictionLimit(side, time, settled = matched)
      StoredLayout.Place(rows.key(side, row), time, Array(limit), canMatch = true)
    }
  }
}
