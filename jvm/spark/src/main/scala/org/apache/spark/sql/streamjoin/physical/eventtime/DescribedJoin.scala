package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.streamjoin.checkpoint.{
  DescribedKind,
  DescribedTimes,
  DescribedZone,
  JoinDescription,
  StateFormat,
  StoredTimes
}

import io.streamjoin.model.Side

/** The description of an event-time join that is stored beside its state. */
private[physical] object DescribedJoin {

  def of(spec: StreamJoinSpec, format: StateFormat): JoinDescription = {
    val times = new StoredTimes(spec.times.expressions, spec.bounds)
    JoinDescription(
      format.number,
      spec.joinType,
      spec.routing,
      spec.equiKeys.map(StoredTimes.sql(_)),
      DescribedTimes(
        spec.times.bases.map(_.name),
        times.proved,
        Side.both.map(s => s -> times(spec.bounds.probeColumn(s))).toMap,
        Side.both.map(s => s -> spec.bounds.limiting(s).map(times(_))).toMap,
        times.said
      ),
      DescribedZone.of(
        spec.equiKeys.flatMap(k => Seq(k.left, k.right)) ++ spec.times.expressions,
        spec.times.zones,
        spec.times.zoned.map(part => part.sql -> part.zones)
      ),
      DescribedKind.EventTime
    )
  }
}
