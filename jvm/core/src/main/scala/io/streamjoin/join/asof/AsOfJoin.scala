package io.streamjoin.join.asof

import scala.collection.mutable

import io.streamjoin.bounds.Saturated
import io.streamjoin.join.eventtime.{Disorder, JoinCounters, JoinOutput}
import io.streamjoin.model.{BySide, JoinType, Side, Watermarks}
import io.streamjoin.state.JoinState

/**
 * The as-of join: each row of one side, the probe, meets the last rows of its key on the other, the
 * build side, by event time. One instance is one batch of one partition.
 *
 * {{{
 *   a row of a side                    limit before             limit of this batch
 *     late?   -> dropped                    |                          |
 *     due?    -> to be joined    settled    |   due: sorted by key     |  held back
 *     else    -> held back       builds     |   and time, and joined   |
 * }}}
 *
 *  1. A row is late if it is strictly below the watermark of its own side: dropped and counted.
 *  1. The limit of a batch is the time below which all rows of both sides have come. What is below it is
 *     due: probe and build rows, sorted by key and time, pass by once. So the result is that of the
 *     sorted tables, whatever the order in which rows came, and costs what is due.
 *  1. Of the build rows that have passed by, the last `count` of each key are kept, as ''settled'' rows,
 *     for the probe rows still to come; none longer than the tolerance lets it match.
 *  1. What else the condition asks is asked of these last rows, and does not make an earlier one the last.
 *
 * The settled rows lie beside the build rows held back and are told from them by being marked as matched.
 *
 * Sources: SQLstream s-Server, `OVER (ROWS n PRECEDING)` on an input; pandas, `merge_asof`; Flink SQL's
 * event-time temporal join, which waits for both watermarks alike. Not thread-safe.
 *
 * @param joinType inner, left or right outer with the probe side preserved, or left semi or anti with the
 *   left as the probe
 * @param state has one limit for each row, [[AsOfBounds.evictionLimit]]
 * @param disorder is told how far rows came behind, by the columns that `column` gives for the sides
 * @tparam R a row of either input
 * @tparam O a row of the output
 */
final class AsOfJoin[R, O](
    joinType: JoinType,
    bounds: AsOfBounds,
    rows: AsOfRows[R],
    output: JoinOutput[R, O],
    state: JoinState[R],
    val counters: JoinCounters,
    disorder: Disorder,
    column: BySide[Int]
) {
  import AsOfJoin._
  import bounds.{build, probe}

  private var received: Side => Long = _ => Watermarks.Unknown
  private var before = Watermarks.Unknown
  private var now = Watermarks.Unknown
  private val limits = new Array[Long](1)

  /**
   * Begins the batch.
   *
   * @param received the watermarks of both sides at the end of the batch before
   * @param arrived the same at the end of this batch
   */
  def begin(received: Side => Long, arrived: Side => Long): Unit = {
    this.received = received
    before = bounds.limit(received)
    now = math.max(before, bounds.limit(arrived))
  }

  /** A row arrives. */
  def arrive(side: Side, row: R): Arrival = {
    counters.countInput(side)
    if (rows.isTimeless(side, row)) {
      counters.countNullTime(side)
      unmatchable(side)
    } else {
      val time = rows.time(side, row)
      val watermark = received(side)
      if (watermark != Watermarks.Unknown) {
        disorder.behind(column(side), Saturated.subtract(watermark, time))
      }
      if (time < watermark) {
        counters.countLate(side)
        Arrival.Dropped
      } else if (!rows.joinable(side, row)) unmatchable(side)
      else if (bounds.due(side, time) < now) Arrival.Due
      else {
        keep(side, row, settled = false)
        Arrival.Buffered
      }
    }
  }

  private def unmatchable(side: Side): Arrival =
    if (side == probe && joinType.preserves(probe)) Arrival.Unmatched else Arrival.Dropped

  /** What comes out for a row of the probe side that cannot match. */
  def unmatched(row: R): O = {
    counters.countNullPadded()
    output.unmatched(probe, row)
  }

  /** The rows of earlier batches that are due; must be read to its end, before [[join]]. */
  def release(side: Side): Iterator[R] =
    if (now == before) Iterator.empty
    else {
      state.evict(side, Array(before), Array(now)).map { released =>
        if (side == probe) counters.countEvicted(side, 1)
        released.row
      }
    }

  /** The order in which due rows of one side are to come: by key hash, time, and build rows by the rest. */
  def compare(side: Side, one: R, other: R): Int = {
    val byKey = java.lang.Long.compare(rows.key(side, one), rows.key(side, other))
    if (byKey != 0) byKey else compareInKey(side, one, other)
  }

  /** The same of two rows whose keys have one hash. */
  def compareInKey(side: Side, one: R, other: R): Int = {
    val byTime = java.lang.Long.compare(rows.time(side, one), rows.time(side, other))
    if (byTime != 0) byTime else rows.compareTied(one, other)
  }

  /**
   * Joins all that is due.
   *
   * @param due the due rows of a side, in the order of [[compare]]
   * @return what comes out; must be read to its end
   */
  def join(due: Side => Iterator[R]): Iterator[O] = new Pass(due(probe), due(build))

  private def keep(side: Side, row: R, settled: Boolean): Unit = {
    val time = rows.time(side, row)
    limits(0) = bounds.evictionLimit(side, time, settled)
    state.append(side, rows.key(side, row), time, limits, row, settled)
  }

  /** The due rows of both sides, key by key, and within a key in the order of their times. */
  private final class Pass(probes: Iterator[R], builds: Iterator[R]) extends Iterator[O] {
    private val nextProbe = new Ahead(probe, probes)
    private val nextBuild = new Ahead(build, builds)
    private val settled = new Settled
    private var key = 0L
    private var inKey = false

    /** What the probe row at hand gives, one after another: each may overwrite the one before. */
    private var results: Iterator[O] = Iterator.empty
    private var meeting = false

    override def hasNext: Boolean = {
      while (!results.hasNext && proceed()) {}
      results.hasNext
    }

    override def next(): O = {
      if (!hasNext) throw new NoSuchElementException("nothing more is due")
      results.next()
    }

    /** @return whether there is more to do */
    private def proceed(): Boolean = {
      results = Iterator.empty
      if (meeting) nextProbe.advance()
      meeting = false
      if (inKey && !nextProbe.isOf(key) && !nextBuild.isOf(key)) {
        settled.save(key)
        inKey = false
      }
      if (nextProbe.isEmpty && nextBuild.isEmpty) false
      else {
        if (!inKey) {
          key = if (nextProbe.isBefore(nextBuild)) nextProbe.key else nextBuild.key
          settled.load(key)
          inKey = true
        }
        if (nextBuild.isOf(key) && !(nextProbe.isOf(key) && nextProbe.due < nextBuild.due)) {
          settled.add(nextBuild.row)
          nextBuild.advance()
        } else {
          meeting = true
          results = meet(nextProbe.row)
        }
        true
      }
    }

    private def meet(row: R): Iterator[O] = {
      val found = settled.of(row).iterator.filter(matches(row, _))
      if (found.isEmpty) Iterator.single(row).filter(_ => joinType.preserves(probe)).map(unmatched)
      else if (joinType == JoinType.LeftAnti) Iterator.empty
      else if (joinType == JoinType.LeftSemi) Iterator.single(joined(output.matched(row)))
      else if (probe == Side.Left) found.map(other => joined(output.joined(row, other)))
      else found.map(other => joined(output.joined(other, row)))
    }

    private def joined(row: O): O = {
      counters.countJoined()
      row
    }

    private def matches(row: R, other: R): Boolean =
      if (probe == Side.Left) rows.matches(row, other) else rows.matches(other, row)
  }

  /** The next due row of a side. */
  private final class Ahead(side: Side, all: Iterator[R]) {
    private var present = false
    var row: R = _
    var key = 0L
    var due = 0L
    advance()

    def isEmpty: Boolean = !present

    def isOf(key: Long): Boolean = present && this.key == key

    def isBefore(other: Ahead): Boolean = present && (other.isEmpty || key < other.key)

    def advance(): Unit = {
      present = all.hasNext
      if (present) {
        row = all.next()
        key = rows.key(side, row)
        due = bounds.due(side, rows.time(side, row))
      }
    }
  }

  /** The last rows of the build side, of all keys with one hash; mostly of one key. */
  private final class Settled {
    private val keys = mutable.ArrayBuffer.empty[mutable.ArrayBuffer[R]]
    private val stored = mutable.ArrayBuffer.empty[R]
    private var changed = false

    def load(key: Long): Unit = {
      keys.clear()
      stored.clear()
      val found = state.probe(build, key, Long.MinValue, now - 1)
      while (found.hasNext) stored += rows.copy(found.next().row)
      found.close()
      stored.foreach(insert)
      changed = false
    }

    def add(row: R): Unit = {
      insert(rows.copy(row))
      changed = true
    }

    /** The last rows of the key that a probe row has, the earliest first. */
    def of(row: R): collection.Seq[R] =
      keys.find(own => rows.hasKeyOf(row, own.head)).getOrElse(Nil)

    private def insert(row: R): Unit = {
      val own = keys.find(some => rows.sameKey(some.head, row)).getOrElse {
        val none = mutable.ArrayBuffer.empty[R]
        keys += none
        none
      }
      var place = own.length
      while (place > 0 && compareInKey(build, own(place - 1), row) > 0) place -= 1
      own.insert(place, row)
      if (own.length > bounds.count) {
        own.remove(0)
        counters.countEvicted(build, 1)
      }
    }

    /** Makes what is stored of the key what is settled now. */
    def save(key: Long): Unit = if (changed) {
      val (last, old) =
        keys.iterator.flatten.partition(r => bounds.expiry(rows.time(build, r)) >= now)
      counters.countEvicted(build, old.size.toLong)
      val missing = mutable.HashMap.empty[R, Int]
      last.foreach(row => missing(row) = missing.getOrElse(row, 0) + 1)
      def take(row: R): Boolean = missing.get(row).exists { many =>
        if (many == 1) missing.remove(row) else missing(row) = many - 1
        true
      }
      val found = state.probe(build, key, Long.MinValue, now - 1)
      while (found.hasNext) if (!take(found.next().row)) found.remove()
      found.close()
      for ((row, many) <- missing; _ <- 0 until many) keep(build, row, settled = true)
    }
  }
}

object AsOfJoin {

  /** What becomes of a row that arrives. */
  sealed trait Arrival

  object Arrival {

    /** It is late, or nothing will ever ask for it. */
    case object Dropped extends Arrival

    /** It waits until the limit has passed it. */
    case object Buffered extends Arrival

    /** It is to be joined in this batch. */
    case object Due extends Arrival

    /** It comes out without a match. */
    case object Unmatched extends Arrival
  }
}
