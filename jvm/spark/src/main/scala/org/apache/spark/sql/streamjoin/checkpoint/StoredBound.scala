package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.streamjoin.conditions.TimeUnit

import io.streamjoin.bounds.Saturated

/** Stored form of a time bound: `left.t >= right.t - 3600000000`. */
private[streamjoin] object StoredBound {

  def apply(later: String, earlier: String, slack: Long): String = s"$later >= $earlier - $slack"

  /**
   * Parses a bound between times with display names.
   *
   * @return the later time with its display name, the display name of the earlier time, and the
   *   slack
   */
  def read(
      bound: String,
      times: Seq[(StoredTime, String)]
  ): Option[((StoredTime, String), String, Long)] = {
    val read = for {
      (later, laterName) <- times
      (earlier, earlierName) <- times
      slack <- bound.stripPrefix(apply(later.name, earlier.name, 0).stripSuffix("0")).toLongOption
    } yield ((later, laterName), earlierName, slack)
    read.headOption
  }

  /**
   * A bound as a user would write it: `o.t >= d.t - INTERVAL '1' HOUR`.
   *
   * @param times the times with their display names. A bound between other times keeps its stored
   *   form
   */
  def words(bound: String, times: Seq[(StoredTime, String)]): String = {
    val said = for {
      ((later, laterName), earlierName, slack) <- read(bound, times)
      unit <- TimeUnit.of(later.dataType)
    } yield s"$laterName >= ${unit.moved(earlierName, Saturated.subtract(0, slack))}"
    said.getOrElse(bound)
  }
}
