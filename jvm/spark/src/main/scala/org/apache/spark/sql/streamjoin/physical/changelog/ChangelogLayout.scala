package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription
import org.apache.spark.sql.streamjoin.physical.exchange.RowHash
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{JoinDistribution, StoredLayout}

import io.streamjoin.model.{BySide, Side, Watermarks}
import io.streamjoin.placement.Routing

/** How a changelog join stores rows. Only a change or its next clock removes one. */
private[changelog] final class ChangelogLayout(spec: ChangelogSpec, description: JoinDescription)
    extends StoredLayout(
      description,
      spec.routing,
      BySide.of(spec.side(_).storedColumns),
      BySide.of { side =>
        val keys = spec.keys(side)
        JoinDistribution.orOnePartition(
          if (keys.isEmpty) JoinDistribution.hashable(spec.spread(side)) else keys
        )
      }
    ) {

  override def required(side: Side): Seq[Attribute] = {
    val own = spec.side(side)
    val times = spec.bounds.indices(side).map(spec.times.expressions(_))
    (own.key.columns ++ own.key.sequence ++ (spec.keys(side) ++ times).flatMap(_.references))
      .distinct
  }

  override def isFoundByAll(side: Side): Boolean =
    spec.side(side).key.columns.isEmpty && !spec.side(side).onlyInserts

  override def evicting(base: Array[Long]): BySide[Seq[Long]] =
    BySide.of(side => Seq.fill(spec.side(side).expiry.limitCount)(Watermarks.Unknown))

  override def reader(): StoredLayout.Reader = new StoredLayout.Reader {
    private val rows = new UnsafeChangelogRows(spec)
    private val hashes = BySide.of { side =>
      Option.when(spec.keys(side).nonEmpty)(
        new RowHash(spec.keys(side), spec.side(side).storedColumns)
      )
    }

    override def apply(side: Side, row: UnsafeRow, matched: Boolean): StoredLayout.Place = {
      val limits = new Array[Long](rows(side).limitCount)
      rows(side).limits(row, limits)
      val key = hashes(side).fold(Routing.NoKey)(_(row))
      StoredLayout.Place(key, rows(side).identity(row), limits, canMatch = true)
    }
  }
}
