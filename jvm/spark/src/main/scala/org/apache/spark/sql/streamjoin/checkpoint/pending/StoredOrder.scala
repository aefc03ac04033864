package org.apache.spark.sql.streamjoin.checkpoint.pending

import org.apache.spark.sql.streamjoin.checkpoint.{
  DescribedKind,
  DescribedTimes,
  JoinDescription,
  StoredTime
}
import org.apache.spark.sql.types.{DataType, StructType}
import org.json4s.{JString, JValue}

import io.streamjoin.model.{BySide, JoinType, Side}
import io.streamjoin.placement.Routing

/**
 * Reads an ordered output as if it were a join. All its rows are on one side, and wait for the
 * watermark of their own time.
 */
private[streamjoin] object StoredOrder {

  /** Name of the operator in the metadata of the state. */
  val Operator: String = "streamOrder"

  /** The side of all buffered rows. */
  val Held: Side = Side.Left

  /** Value of the column `side`. */
  val Called: String = "held"

  def read(json: String): JoinDescription = {
    val fields = JoinDescription.fields(json)
    val own = time(fields.get("order"))
    JoinDescription(
      JoinDescription.format(json).get,
      JoinType.Inner,
      Routing.ByKey,
      keys = Nil,
      DescribedTimes(
        sources = fields.get("sources").toSeq.flatMap(_.children).map(JoinDescription.shown),
        bounds = Nil,
        lookup = BySide(own, own),
        limits = BySide(Seq(own), Seq(own)),
        said = Nil
      ),
      zone = None,
      DescribedKind.EventTime
    )
  }

  /** Parses `order_time: TIMESTAMP`. A window counts as its end. */
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
