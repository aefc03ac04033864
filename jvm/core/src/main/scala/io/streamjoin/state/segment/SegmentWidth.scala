package io.streamjoin.state.segment

import io.streamjoin.bounds.Saturated

/**
 * Width of a new segment: how far apart the first limits of its rows may be. It is the least
 * width that is good for a probe, and more while segments would have few rows.
 *
 * The width follows from the rows that arrived for each opened segment, not from the rows in
 * one of them. With rows in disorder the newest segments are nearly empty, although many rows
 * are still to arrive for them.
 *
 * @param span the least width; 1 if a probe visits all segments
 */
private[segment] final class SegmentWidth(span: Long) {
  import SegmentWidth._

  private val least = math.max(1L, span)
  private val rule = if (span > 1) OfARange else OfAll
  private var width = least

  // since the width was last judged
  private var rows = 0L
  private var opened = 0

  /** The width of a segment that is opened now. */
  def ofNext: Long = width

  /** A row was appended, to any segment. */
  def rowCame(): Unit = rows += 1

  /** A row has arrived for which there is no segment yet. */
  def opens(): Unit = {
    opened += 1
    if (rows > rule.many * rule.judged) judge(math.max(least, width / 2))
    else if (opened == rule.judged)
      judge(if (rows < rule.few * rule.judged) Saturated.add(width, width) else width)
  }

  private def judge(next: Long): Unit = {
    width = next
    rows = 0L
    opened = 0
  }
}

private object SegmentWidth {

  /**
   * @param few the least number of rows of a segment that is good
   * @param many the greatest number that is good
   * @param judged how many segments are opened from one decision to the next
   */
  private final case class Rule(few: Long, many: Long, judged: Int)

  private val OfARange = Rule(few = 32, many = 128, judged = 16)

  /** The fewer segments the better, and at once. */
  private val OfAll = Rule(few = 256, many = 8192, judged = 1)
}
