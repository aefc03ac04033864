package org.apache.spark.sql.streamjoin.checkpoint.pending

import org.apache.spark.sql.streamjoin.checkpoint.{JoinDescription, StoredTime}
import org.apache.spark.sql.types.{DataType, StructType}
import org.json4s.{JString, JValue}

import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.placement.Routing

/** An ordered output, as what looks at joins sees it: rows of one side, which wait for their own time. */
private[pending] object StoredOrder {

  /** The operator's name in the state's metadata. */
  val Operator: String = "streamOrder"

  /** The side on which an order holds its rows. */
  val Held: Side = Side.Left

  /** What that side is called. */
  val Called: String = "held"

  def read(json: String): JoinDescription = {
    val own = time(JoinDescription.fields(json).get("order"))
    JoinDescription(
      JoinDescription.format(json).get,
      JoinDescription.version(json).getOrElse(0),
      JoinType.Inner,
      Routing.ByKey,
      keys = Nil,
      sources = Nil,
      bounds = Nil,
      lookup = Side.both.map(_ -> own).toMap,
      limits = Side.both.map(_ -> Seq(own)).toMap,
      times = Nil,
      zone = None
    )
  }

  /** Of `order_time: TIMESTAMP`, or of a window, which counts as its end. */
  private def time(order: Option[JValue]): StoredTime = order match {
    case Some(JString(timed(name, ddl))) =>
      StoredTime(
        name,
        DataType.fromDDL(ddl) match {
          case window: StructType => window("end").dataType
          case other              => other
        }
      )
    case other => throw new IllegalArgumentException(s"no order, but $other")
  }

  private val timed = "(.*?): (STRUCT<.*|[^:]*)".r
}
