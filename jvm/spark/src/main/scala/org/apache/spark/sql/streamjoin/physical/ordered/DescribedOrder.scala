package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.streamjoin.checkpoint.{DescribedZone, StateFormat}
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, render}

/**
 * The description of an ordered output that is stored beside its state, in JSON: the event time and
 * the sources of its watermark. It omits the tie-breakers, because a query may change them.
 */
private[ordered] object DescribedOrder {

  def json(spec: OrderSpec, format: StateFormat): String = {
    // expression IDs differ in each run, and qualifiers depend on the optimizer
    val time = spec.time.transform { case a: Attribute => a.withQualifier(Nil) }
    compact(
      render(
        ("format" -> format.name) ~
          ("version" -> format.number.current) ~
          ("order" -> s"${time.sql}: ${spec.time.dataType.sql}") ~
          ("sources" -> spec.bases.map(_.name)) ~
          ("zone" -> zone(spec).map(_.json))
      )
    )
  }

  private def zone(spec: OrderSpec): Option[DescribedZone] =
    DescribedZone.of(Seq(spec.time), Set.empty, spec.zoned.map(part => part.sql -> part.zones))
}
