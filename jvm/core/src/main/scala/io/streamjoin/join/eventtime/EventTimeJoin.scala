package io.streamjoin.join.eventtime

import io.streamjoin.bounds.{JoinBounds, RowBounds, RowTimes, Saturated}
import io.streamjoin.join.{Counters, Disorder, JoinOutput}
import io.streamjoin.join.Count.{Evicted, Input, Joined, Late, NullPadded, NullTime}
import io.streamjoin.model.Side.{Left, Right}
import io.streamjoin.model.{BySide, JoinType, Side, Watermarks}
import io.streamjoin.placement.{Placement, ReachBuckets, Routing}
import io.streamjoin.state.{BufferedRow, JoinState, Probed}

/**
 * The statistics that one task of a join collects.
 *
 * @param lags of the columns whose watermark is the largest time minus a lag, that lag; disorder is
 *   measured by it, see [[Disorder]]
 * @param load takes in the keys of rows that may match; none: not required
 */
final case class JoinStats(
    counters: Counters,
    lags: Map[Int, Long] = Map.empty,
    load: Option[KeyLoad] = None
)

/**
 * Operator of the event-time join of two streams: takes rows and watermarks, emits rows. It
 * knows neither SQL nor a cluster. One instance is one partition.
 *
 * {{{
 *   a row of one side                       a watermark
 *     late?                -> dropped         for each side, evict the rows
 *     cannot match at all? -> unmatched         with a limit below it
 *     buffered partners    -> joined          never joined? -> unmatched
 *     out of bounds?       -> unmatched
 *     else                 -> buffered
 * }}}
 *
 *   1. A row is late if any of its times is ''strictly below'' a received watermark. It is
 *     dropped, or emitted as late with that time and watermark. A row that a join below emitted
 *     as late is, too.
 *   1. A row that is not late but can match no later row is joined with the buffered rows. It
 *     is not buffered.
 *   1. A row is evicted as soon as any bound proves that no later row can match it. If its side
 *     is preserved and it was never joined, it is emitted unmatched then.
 *   1. Semi join: a left row is emitted at its first match and removed. Anti join: it is
 *     removed at its first match, and emitted when it is evicted.
 *
 * Example, orders LEFT JOIN deliveries `ON d.time BETWEEN o.time AND o.time + 30 minutes`:
 *
 * {{{
 *   order    12:00   no partner; buffered until W(deliveries) is above 12:30
 *   order    12:10   no partner; buffered until W(deliveries) is above 12:40
 *   delivery 12:20   joined with both orders; buffered until W(orders) is above 12:20
 *   W(orders) = 12:25       evicts the delivery: later orders are not before 12:25
 *   order    12:15   below W(orders): late, dropped
 *   W(deliveries) = 12:35   evicts the order of 12:00; it was joined, so nothing is emitted
 *   order    12:50   no partner; buffered until W(deliveries) is above 13:20
 *   W(deliveries) = 13:25   evicts both orders; emits the one of 12:50 without a delivery
 * }}}
 *
 * Rules R2, R8, R9 and R13 of `docs/internals/rules.md`.
 *
 * Source: Hazelcast, "Stream to stream JOIN", section "Algorithm". Not thread-safe.
 *
 * @param placement which of its rows another partition owns
 * @tparam R a row of either input
 * @tparam O a row of the output
 */
final class EventTimeJoin[R, O](
    joinType: JoinType,
    bounds: JoinBounds,
    rows: JoinRows[R],
    output: JoinOutput[R, O],
    state: JoinState[R],
    stats: JoinStats,
    placement: Placement = Placement()
) {
  import placement.{mayMeetReplicas, partitions, routing}
  import routing.{isSpread, separatesReplicas}

  private val counters = stats.counters

  /** How far its rows arrived behind their watermarks. */
  val disorder = new Disorder(bounds.columns.length, stats.lags)

  private val boundsOf = BySide.of(new RowBounds(bounds, _))
  private val times = new RowTimes(bounds.columns.length)
  private val limitsOf = boundsOf.map(own => new Array[Long](own.limitCount))

  private val probe = new Probe

  // called for each row; null if not required
  private val keyLoad = stats.load.orNull

  private val nearMisses = new NearMissStats(rows, boundsOf, bounds.columns.length, state, counters)

  private var watermarks: Array[Long] = Array.fill(bounds.columns.length)(Watermarks.Unknown)
  private var mayHoldExpired = false

  private val earliestTimes = BySide.of(new EarliestTimes(bounds, _))

  /** By column, the earliest time of the buffered rows, see [[EarliestTimes]]. */
  def earliestBuffered: Array[Long] =
    bounds.columns.indices.map(c =>
      earliestTimes(bounds.columns(c).side).earliest(c, state)
    ).toArray

  /**
   * The same for rows that have not been joined and are emitted without a partner, too. It is
   * past all times if there are none.
   *
   * @param readsMatches for which sides matched rows are to be distinguished, which reads the
   *   rows
   */
  def earliestUnmatched(readsMatches: Side => Boolean): Array[Long] =
    bounds.columns.indices.map { c =>
      val side = bounds.columns(c).side
      if (!joinType.preserves(side)) Long.MaxValue
      else if (readsMatches(side)) earliestTimes(side).earliestUnmatched(c, state)
      else earliestTimes(side).earliest(c, state)
    }.toArray

  /**
   * Restores the watermarks that an earlier run had received, without acting on them.
   *
   * @param mayHoldExpired whether rows are buffered that these watermarks evict, because the limits
   *   of the rows have changed. The next watermarks evict them, too
   */
  def restore(received: Array[Long], mayHoldExpired: Boolean = false): Unit = {
    watermarks = received.clone()
    this.mayHoldExpired = mayHoldExpired
  }

  /** The received watermarks, by column. */
  def received: Array[Long] = watermarks.clone()

  /**
   * A row arrives.
   *
   * @param keepFor a row is buffered only if it survives these watermarks. The caller may know
   *   more than was received: the watermarks of the end of the batch, if no row of the other
   *   input follows before them
   * @return the rows to emit; must be read to its end before the next call
   */
  def process(
      side: Side,
      row: R,
      keepFor: Array[Long] = watermarks
  ): Iterator[O] = {
    rows.readTimes(side, row, times)
    val own = boundsOf(side)
    val key = rows.key(side, row)
    val keyPartition = partitionOf(side, row, key)
    val replica = !owns(side, row, key, keyPartition, own)
    if (!replica) {
      counters.count(side, Input)
      disorder.note(own.watermarked, times, watermarks)
    }
    val lateBy = own.lateBy(times, watermarks)
    if (rows.foundLate(side, row)) {
      if (replica) Iterator.empty else output.foundLate(side, row).iterator
    } else if (lateBy >= 0) {
      late(side, row, lateBy, replica)
    } else if (own.lacksTime(times)) {
      if (!replica && own.lacksSourceTime(times)) counters.count(side, NullTime)
      unmatched(side, row, replica).iterator
    } else if (bounds.contradictory || !rows.joinable(side, row) || !own.consistent(times)) {
      unmatched(side, row, replica).iterator
    } else {
      probe.start(side, row, key, keepFor, replica, keyPartition)
      probe
    }
  }

  /**
   * Watermarks arrive. A watermark that is lower than an earlier one of its column changes
   * nothing.
   *
   * @return the evicted rows that were never joined; must be read to its end
   */
  def advance(received: Array[Long]): Iterator[O] = {
    nearMisses.lookInto()
    val before = if (mayHoldExpired) watermarks.map(_ => Watermarks.Unknown) else watermarks
    mayHoldExpired = false
    watermarks = watermarks.zip(received).map { case (a, b) => math.max(a, b) }
    Side.both.iterator.flatMap(evict(_, before))
  }

  /** Whether this partition owns an arriving row, whose times have been read. */
  private def owns(
      side: Side,
      row: R,
      key: Long,
      keyPartition: Int,
      own: RowBounds
  ): Boolean = !mayMeetReplicas(side) ||
    placement.owns(row.asInstanceOf[AnyRef]) &&
    (!own.hasProbeTime(times) || placement.owns(side, key, own.probeTime(times), keyPartition))

  /** The partition of the key of a row, computed only if rows of the key are spread. */
  private def partitionOf(side: Side, row: R, key: Long): Int =
    if (isSpread(key)) rows.partition(side, row, partitions) else ReachBuckets.NoPartition

  private def evict(side: Side, before: Array[Long]): Iterator[O] = {
    val own = boundsOf(side)
    val columns = Array.tabulate(own.limitCount)(own.limitColumn)
    val (from, to) = (columns.map(before(_)), columns.map(watermarks(_)))
    if (from.sameElements(to)) Iterator.empty
    else if (joinType.preserves(side)) {
      state.evict(side, from, to).flatMap { evicted =>
        counters.count(side, Evicted)
        if (evicted.matched) None
        else {
          val row = evicted.row
          val keyPartition = partitionOf(side, row, evicted.key)
          unmatched(side, row, !placement.owns(side, evicted.key, evicted.time, keyPartition))
        }
      }
    } else {
      counters.count(side, Evicted, state.discard(side, from, to))
      Iterator.empty
    }
  }

  private def late(side: Side, row: R, column: Int, replica: Boolean): Iterator[O] =
    if (replica) Iterator.empty
    else {
      counters.count(side, Late)
      output.late(side, row, column, watermarks(column)).iterator
    }

  private def unmatched(side: Side, row: R, replica: Boolean): Option[O] =
    if (joinType.preserves(side) && !replica) {
      counters.count(NullPadded, 1L)
      Some(output.unmatched(side, row))
    } else {
      None
    }

  /**
   * One arriving row against the buffered rows of the other side, then its own outcome. One
   * object is reused for all rows, and allocates nothing for matches.
   */
  private final class Probe extends Iterator[O] {
    private var side: Side = _
    private var row: R = _
    private var replica = false

    /** The partition of its key, which is that of its partners. */
    private var keyPartition = ReachBuckets.NoPartition
    private var key = 0L
    private var time = 0L
    private var (from, to) = (0L, 0L)
    private var ordinary = true
    private var keep = false
    private var partners: Probed[R] = _

    private var replicasAmongPartners = false
    private var replicasPending = false
    private var matched = false
    private var settled = true
    private var ready = false
    private var result: O = _

    def start(
        side: Side,
        row: R,
        ofRow: Long,
        keepFor: Array[Long],
        replica: Boolean,
        keyPartition: Int
    ): Unit = {
      this.side = side
      this.row = row
      this.replica = replica
      this.keyPartition = keyPartition
      val own = boundsOf(side)
      val apart = separatesReplicas
      key = if (replica && apart) Routing.ReplicaKey else ofRow
      time = own.probeTime(times)
      if (keyLoad != null) keyLoad.see(side, key, time, replica)
      own.limits(times, limitsOf(side))
      keep = own.survives(limitsOf(side), keepFor)
      from = own.probeFrom(times)
      to = own.probeTo(times)
      ordinary =
        Saturated.isOrdinary(time) && Saturated.isOrdinary(from) && Saturated.isOrdinary(to)
      partners =
        state.probe(side.other, if (replica && apart) Routing.NoKey else key, from, to)
      replicasAmongPartners = mayMeetReplicas(side.other)
      replicasPending = apart && !replica
      matched = false
      settled = false
    }

    override def hasNext: Boolean = {
      while (!ready && !settled) step()
      ready
    }

    override def next(): O = {
      if (!hasNext) throw new NoSuchElementException("no more rows of this probe")
      ready = false
      result
    }

    private def give(o: O): Unit = {
      result = o
      ready = true
    }

    private def step(): Unit =
      if (!done && partners.hasNext) meet(partners.next())
      else if (!done && replicasPending) {
        replicasPending = false
        partners = state.probe(side.other, Routing.ReplicaKey, from, to)
      } else settle()

    /** Whether a left row of a semi or anti join has found its only partner. */
    private def done: Boolean = matched && joinType.leftOnly && side == Left

    private def meet(partner: BufferedRow[R]): Unit = {
      val other = partner.row
      val pairs =
        if (side == Left) rows.matches(row, other, ordinary)
        else rows.matches(other, row, ordinary)
      if (pairs) {
        matched = true
        if (joinType.leftOnly) {
          counters.count(Joined, 1L)
          meetLeftOnly(partner, other)
        } else {
          if (!partner.matched && joinType.preserves(side.other) && !isReplica(partner)) {
            partners.setMatched()
          }
          val ownedElsewhere = if (side == routing.pairOwner) replica else isReplica(partner)
          if (!ownedElsewhere) {
            counters.count(Joined, 1L)
            give(if (side == Left) output.joined(row, other) else output.joined(other, row))
          }
        }
      }
    }

    private def isReplica(partner: BufferedRow[R]): Boolean =
      replicasAmongPartners &&
        !placement.owns(side.other, partner.key, partner.time, keyPartition)

    private def meetLeftOnly(partner: BufferedRow[R], other: R): Unit = {
      if (joinType == JoinType.LeftSemi) give(output.matched(if (side == Left) row else other))
      if (side == Right) partners.remove()
    }

    private def settle(): Unit = {
      settled = true
      partners.close()
      if (!matched && NearMissStats.isWorthwhile(key) && !isSpread(key)) {
        nearMisses.missed(side, key, time, from, to)
      }
      if (!done) {
        if (keep) state.append(side, key, time, limitsOf(side), row, matched)
        else if (!matched) unmatched(side, row, replica).foreach(give)
      }
    }
  }
}
