package io.streamjoin.bounds

import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.model.Watermarks.Unknown
import io.streamjoin.placement.ReachBuckets

/**
 * Time bounds of a join condition: a system of difference constraints between the time columns
 * of both inputs, closed under addition (shortest paths).
 *
 * {{{
 *   d.time BETWEEN o.time - 1 AND o.time + 3
 *
 *        d >= o - 1                       o >= d - 3
 *   a buffered d is evicted when        a buffered o is evicted when
 *   d < W(o) - 1                        o < W(d) - 3
 * }}}
 *
 * Only an edge from a column of the ''other'' input evicts buffered rows. The watermark of that
 * input bounds the rows still to arrive that a buffered row could match. An edge inside one
 * input that follows from the condition is a filter on its rows.
 *
 * Example with clock times, in hours: at W(o) = 12:00 every delivery before 11:00 is evicted,
 * for a later order is not before 12:00 and matches deliveries from 11:00 on.
 *
 * The closure combines bounds. From `d >= o - 1` and `r >= d - 2` follows `r >= o - 3`: with
 * W(o) = 12:00 a row `r` before 09:00 is evicted, although no condition names both columns.
 *
 * Rules R3 to R5, R7, R10 to R12 and R17 of `docs/internals/rules.md`.
 *
 * Source: Hazelcast, "Stream to stream JOIN"; the closure and the use of facts go beyond it.
 *
 * @param columns the time columns of both inputs
 * @param conjuncts bounds that the condition demands of each joined pair
 * @param facts bounds between columns of one input that hold for each of its rows in which both
 *   columns are present, since a join below has enforced them
 * @param neverTrue whether the condition holds for no pair for another reason than time
 */
final class JoinBounds(
    val columns: IndexedSeq[TimeColumn],
    val conjuncts: Seq[TimeBound],
    val facts: Seq[TimeBound],
    val neverTrue: Boolean = false
) extends Serializable {

  import JoinBounds.Unbounded

  private val n = columns.length

  private val compared: Set[Int] = conjuncts.flatMap(b => Seq(b.later, b.earlier)).toSet

  /** Columns in a conjunct: a row in which one of them is null matches nothing. */
  val constrained: Set[Int] = compared ++ compared.flatMap(columns(_).multipleOf.map(_.column))

  private val closure: Array[Array[Long]] =
    JoinBounds.close(n, conjuncts ++ facts, certain)

  /**
   * Whether each joined pair has a time in this column. A fact does not hold for a row without
   * it, so nothing follows through the column, nor from its watermark.
   */
  private def certain(column: Int): Boolean = constrained(column) || !columns(column).nullable

  /** The least `c` with `later >= earlier - c` for each joined pair, or [[Unbounded]]. */
  def slack(later: Int, earlier: Int): Long = closure(later)(earlier)

  /** No pair of rows can satisfy the condition: nothing needs to be buffered. */
  val contradictory: Boolean =
    neverTrue || columns.indices.exists(i => certain(i) && closure(i)(i) < 0)

  private val (ofLeft, ofRight) = columns.indices.partition(columns(_).side == Side.Left)

  def indices(side: Side): IndexedSeq[Int] = if (side == Side.Left) ofLeft else ofRight

  /** The event-time columns of a side. */
  def watermarked(side: Side): IndexedSeq[Int] = indices(side).filter(columns(_).watermarked)

  /** The columns of the other input whose watermarks bound this column from below. */
  def governing(column: Int): IndexedSeq[Int] =
    indices(columns(column).side.other).filter { b =>
      hasWatermark(b) && certain(b) && slack(column, b) != Unbounded
    }

  /** Whether the column, or that of which it is a multiple, has a watermark. */
  private def hasWatermark(column: Int): Boolean =
    columns(column).watermarked || columns(column).multipleOf.exists(m => hasWatermark(m.column))

  /** The multiples of a column. */
  def multiples(column: Int): IndexedSeq[Int] =
    columns.indices.filter(columns(_).multipleOf.exists(_.column == column))

  /**
   * The watermarked columns of the other input that evict rows of `side`. Without any, its
   * state is unbounded.
   */
  def limiting(side: Side): IndexedSeq[Int] = {
    val limits = indices(side).flatMap(governing).toSet
    indices(side.other).filter(limits)
  }

  def bounded(side: Side): Boolean = contradictory || limiting(side).nonEmpty

  /** The column by which rows of `side` are probed: the one with the narrowest range. */
  def probeColumn(side: Side): Int =
    indices(side).minBy(a => (!compared(a), width(a), !columns(a).watermarked, a))

  /**
   * The range of probe times of `side` that one row of the other input can match;
   * [[JoinBounds.Unbounded]] if it differs from row to row.
   */
  def probeWidth(side: Side): Long = width(probeColumn(side))

  /**
   * The buckets of the probe times. None if their distance has no constant bound. A bound across
   * the inputs comes from a comparison, so each joined pair has these times.
   */
  def buckets(bothCopied: Boolean): Option[ReachBuckets] =
    if (contradictory || Side.both.exists(indices(_).isEmpty)) None
    else {
      val (left, right) = (probeColumn(Side.Left), probeColumn(Side.Right))
      ReachBuckets.of(slack(right, left), slack(left, right), bothCopied)
    }

  private def width(column: Int): Long = indices(columns(column).side.other).map { b =>
    val (down, up) = (slack(column, b), slack(b, column))
    if (down == Unbounded || up == Unbounded) Unbounded else Saturated.add(down, up)
  }.minOption.getOrElse(Unbounded)

  /**
   * The lower bound of a time column over all buffered and later rows, given the received
   * watermarks: `wmState` in the Hazelcast document.
   */
  def bound(column: Int, received: Array[Long]): Long =
    (ofItself(column, received) ++ multiples(column).flatMap { m =>
      columns(m).multipleOf.map(of => divided(bound(m, received), of.factor))
    }).maxOption.getOrElse(Unknown)

  private def ofItself(column: Int, received: Array[Long]): Seq[Long] =
    governing(column)
      .filter(received(_) != Unknown)
      .map(b => Saturated.subtract(received(b), slack(column, b)))

  /** The least number of which a multiple is no less than this. */
  private def divided(multiple: Long, factor: Long): Long =
    if (multiple == Unknown) Unknown else Saturated.divideUp(multiple, factor)

  /** Whether the condition compares numbers in different units. */
  def mixesUnits: Boolean = columns.exists(_.multipleOf.nonEmpty)

  /** Whether a bound relates two columns. Then both have one unit. */
  def areRelated(a: Int, b: Int): Boolean = slack(a, b) != Unbounded || slack(b, a) != Unbounded

  /** Whether this column has a watermark in the output. */
  def watermarkedInOutput(column: Int): Boolean =
    columns(column).watermarked &&
      (contradictory || (column +: multiples(column)).exists(governing(_).nonEmpty))

  /**
   * The watermark of a column of the output: `min(received, bound)`, the rule of the last
   * section of the Hazelcast document (with `wmState`, not with the least buffered time). A
   * column whose rows are never buffered passes its watermark on.
   */
  def outputWatermark(column: Int, received: Array[Long]): Long =
    if (contradictory) received(column) else math.min(received(column), bound(column, received))

  /**
   * Bounds between columns of the output of the join, for a join above it. They hold for rows
   * in which both columns are present. Rows that may be emitted unmatched obey only the facts
   * of their own input.
   */
  def outputFacts(joinType: JoinType): Seq[TimeBound] = {
    def preserved(i: Int) = joinType.preserves(columns(i).side)
    val kept = if (joinType.leftOnly) indices(Side.Left) else columns.indices
    for {
      i <- kept
      j <- kept if i != j
      sameSide = columns(i).side == columns(j).side
      bound <-
        if (sameSide && preserved(i)) facts.filter(f => f.later == i && f.earlier == j)
        else if (slack(i, j) == Unbounded) Nil
        else Seq(TimeBound(i, j, slack(i, j)))
    } yield bound
  }

  /** Whether the column may be null in the join's output. */
  def nullableInOutput(column: Int, joinType: JoinType): Boolean = {
    val side = columns(column).side
    val ownMayBeNull =
      columns(column).nullable && (!constrained(column) || joinType.preserves(side))
    ownMayBeNull || joinType.preserves(side.other)
  }
}

object JoinBounds {

  /** The slack of a pair without a bound. */
  val Unbounded: Long = Long.MaxValue

  /** Shortest paths (Floyd and Warshall), through the columns that `through` allows. */
  private def close(n: Int, edges: Seq[TimeBound], through: Int => Boolean): Array[Array[Long]] = {
    val d = Array.fill(n, n)(Unbounded)
    for (i <- 0 until n) d(i)(i) = 0L
    for (e <- edges) d(e.later)(e.earlier) = math.min(d(e.later)(e.earlier), e.slack)
    for (k <- 0 until n if through(k); i <- 0 until n if d(i)(k) != Unbounded; j <- 0 until n)
      if (d(k)(j) != Unbounded) d(i)(j) = math.min(d(i)(j), Saturated.add(d(i)(k), d(k)(j)))
    d
  }
}

/**
 * The canonical form of a time bound: `column(later) >= column(earlier) - slack`.
 *
 * The columns are numbers in a [[JoinBounds]]; the slack is in the unit of the columns
 * (microseconds, days, or plain numbers) and may be negative. The Hazelcast document calls it the
 * postpone time.
 */
final case class TimeBound(later: Int, earlier: Int, slack: Long)
