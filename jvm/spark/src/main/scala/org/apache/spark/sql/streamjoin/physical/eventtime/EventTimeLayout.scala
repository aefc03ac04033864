package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{JoinDistribution, StoredLayout}
import org.apache.spark.sql.streamjoin.physical.timed.TimedJoinSpec

import io.streamjoin.bounds.{RowBounds, RowTimes}
import io.streamjoin.model.{BySide, Side}

/** How an event-time join stores rows. It spreads no keys: the first batch finds hot ones again. */
private[eventtime] final class EventTimeLayout(
    spec: TimedJoinSpec,
    inputs: BySide[Seq[Attribute]],
    description: JoinDescription
) extends StoredLayout(
      description,
      spec.routing,
      inputs,
      BySide.of { side =>
        val keys = spec.keys(side)
        JoinDistribution.orOnePartition(
          if (keys.isEmpty) JoinDistribution.hashable(inputs(side)) else keys
        )
      }
    ) {
  import spec.bounds

  override def required(side: Side): Seq[Attribute] =
    (spec.keys(side) ++ bounds.indices(side).filter(bounds.constrained).map(spec.times(_)))
      .flatMap(_.references).distinct

  override def evicting(base: Array[Long]): BySide[Seq[Long]] = {
    val received = spec.times.watermarks.received(base)
    BySide.of(bounds.limiting(_).map(received(_)))
  }

  override def reader(): StoredLayout.Reader = new StoredLayout.Reader {
    private val rows = new UnsafeJoinRows(spec, inputs)
    private val times = new RowTimes(bounds.columns.length)
    private val ofSides = BySide.of(new RowBounds(bounds, _))
    private val limits = ofSides.map(own => new Array[Long](own.limitCount))

    override def apply(side: Side, row: UnsafeRow, matched: Boolean): StoredLayout.Place = {
      val own = ofSides(side)
      rows.readTimes(side, row, times)
      own.limits(times, limits(side))
      val canMatch = !bounds.contradictory && !own.lacksTime(times) &&
        rows.joinable(side, row) && own.consistent(times)
      val time = if (own.hasProbeTime(times)) own.probeTime(times) else Long.MinValue
      StoredLayout.Place(rows.key(side, row), time, limits(side), canMatch)
    }
  }
}
