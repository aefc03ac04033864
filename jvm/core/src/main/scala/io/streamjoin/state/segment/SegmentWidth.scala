package io.streamjoin.state.segment

import io.streamjoin.bounds.Saturated

/**
 * How far apart the first limits of rows of a new segment may be: the least that is good for a probe,
 * and more while segments would have few rows.
 *
 * Judged by the rows that have come for each segment that was opened, not by how full one of them is:
 * where rows come in disorder the newest segments are nearly empty, however many rows are still to
 * come for them.
 *
 * @param span the least width; 1 where a probe goes through all segments
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

  /** A row has come, for whichever segment. */
  def rowCame(): Unit = rows += 1

  /** A row has come for which there is no segment yet. */
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
   * @param few so many rows of a segment, or more, are wanted
   * @param many and not more than so many
   * @param judged how many segments are opened from one judgement to the next
   */
  private final case class Rule(few: Long, many: Long, judged: Int)

  private val OfARange = Rule(few = 32, many = 128, judged = 16)

  /** The fewer segments the better, and at once. */
  private val OfAll = Rule(few = 256, many = 8192, judged = 1)
}
