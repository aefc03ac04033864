package org.apache.spark.sql.streamjoin.checkpoint

import org.json4s._
import org.json4s.JsonDSL._

import io.streamjoin.placement.ReachBuckets

/** JSON form of time buckets. */
private[checkpoint] object StoredBuckets {

  def json(b: ReachBuckets): JObject =
    ("shift" -> b.shift) ~ ("reach" -> b.reach) ~ ("width" -> b.width)

  def read(json: JValue): ReachBuckets = {
    def number(part: String) = (json \ part).asInstanceOf[JInt].num.longValue
    ReachBuckets(number("shift"), number("reach"), number("width"))
  }
}
