package org.apache.spark.sql.streamjoin.physical.asof

import org.apache.spark.sql.streamjoin.checkpoint.{
  DescribedKind,
  JoinDescription,
  StateFormat,
  StoredTime
}
import org.apache.spark.sql.streamjoin.physical.eventtime.DescribedJoin

import io.streamjoin.model.Side
import io.streamjoin.placement.Routing

/** An as-of join as it is written beside its state. */
private[asof] object DescribedAsOf {

  def of(spec: AsOfSpec, format: StateFormat): JoinDescription = {
    import spec.bounds._
    def time(side: Side) =
      StoredTime(
        s"${side.name}.${spec.times(side).withQualifier(Nil).sql}",
        spec.times(side).dataType
      )
    val oldest = tolerance.fold("any age")(t => s"not older than $t")
    val joined = DescribedJoin.of(spec.join, format)
    joined.copy(
      routing = Routing.ByKey,
      times = joined.times.copy(
        lookup = Side.both.map(s => s -> time(s)).toMap,
        limits = Side.both.map(s => s -> Seq(time(s.other))).toMap
      ),
      kind = DescribedKind.AsOf(
        s"the last $count of the ${build.name} input, up to $reach later, $oldest"
      )
    )
  }
}
