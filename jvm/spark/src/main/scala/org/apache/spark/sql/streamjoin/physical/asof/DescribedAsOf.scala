package org.apache.spark.sql.streamjoin.physical.asof

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.streamjoin.checkpoint.{
  DescribedKind,
  JoinDescription,
  StateFormat,
  StoredTime
}
import org.apache.spark.sql.streamjoin.physical.eventtime.DescribedJoin

import io.streamjoin.model.Side
import io.streamjoin.placement.Routing

/** Description of an as-of join, stored beside its state. */
private[asof] object DescribedAsOf {

  def of(spec: AsOfSpec, format: StateFormat): JoinDescription = {
    import spec.bounds._
    def name(column: Attribute) = column.withQualifier(Nil).sql
    def time(side: Side) =
      StoredTime(s"${side.name}.${name(spec.times(side))}", spec.times(side).dataType)
    val which = spec.versions.fold(s"the last $count of the ${build.name} input") { v =>
      val ties = v.sequence.fold("")(s => s", of one time the last by ${name(s)}")
      s"the version of the ${build.name} input$ties"
    }
    val oldest = tolerance.fold("any age")(t => s"not older than $t")
    val joined = DescribedJoin.of(spec.join, format)
    joined.copy(
      routing = Routing.ByKey,
      times = joined.times.copy(
        lookup = Side.both.map(s => s -> time(s)).toMap,
        limits = Side.both.map(s => s -> Seq(time(s.other))).toMap
      ),
      kind = DescribedKind.AsOf(s"$which, up to $reach later, $oldest")
    )
  }
}
