package org.apache.spark.sql.streamjoin.conditions

import java.time.{Instant, ZoneId}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_SECOND
import org.apache.spark.sql.catalyst.util.DateTimeUtils

/**
 * The smallest and the largest offset of a time zone from UTC, past and future, in microseconds.
 */
private[streamjoin] final case class ZoneOffsets(least: Long, most: Long) {

  /** The largest difference between a distance in local time and elapsed time. */
  def range: Long = most - least
}

private[streamjoin] object ZoneOffsets {

  val none: ZoneOffsets = ZoneOffsets(0, 0)

  def of(zone: Option[String]): ZoneOffsets = of(DateTimeUtils.getZoneId(zone.getOrElse("UTC")))

  private def of(zone: ZoneId): ZoneOffsets = {
    val rules = zone.getRules
    val changes =
      rules.getTransitions.asScala.flatMap(t => Seq(t.getOffsetBefore, t.getOffsetAfter)) ++
        rules.getTransitionRules.asScala.flatMap(r => Seq(r.getOffsetBefore, r.getOffsetAfter))
    val offsets =
      (changes.toSeq :+ rules.getOffset(Instant.EPOCH)).map(_.getTotalSeconds * MICROS_PER_SECOND)
    ZoneOffsets(offsets.min, offsets.max)
  }
}
