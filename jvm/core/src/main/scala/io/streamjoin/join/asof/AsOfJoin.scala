package io.streamjoin.join.asof

import scala.collection.mutable

import io.streamjoin.join.Count.{Evicted, Input, Joined, Late, NullPadded, NullTime}
import io.streamjoin.join.{Counters, Disorder, JoinOutput}
import io.streamjoin.model.{BySide, JoinType, Side, Watermarks}
import io.streamjoin.state.JoinState

/**
 * Operator of the as-of join: each row of the probe side is joined with the latest rows of its
 * key on the build side, by event time. One instance is one batch of one partition.
 *
 * {{{
 *   a row of a side                    limit before             limit of this batch
 *     late?   -> dropped                    |                          |
 *     due?    -> joined          settled    |   due: sorted by key     |  buffered
 *     else    -> buffered        builds     |   and time, and joined   |
 * }}}
 *
 *   1. A row is late if it is strictly below the watermark of its own side: counted, and dropped
 *     or emitted as late.
 *   1. The limit of a batch is the time below which all rows of both sides have arrived. Rows
 *     below it are due. Due probe and build rows are sorted by key and time, and merged once.
 *     So the result is that of the sorted tables, in any order of arrival, at the cost of the
 *     due rows.
 *   1. The last `count` build rows of each key stay stored as ''settled'' rows, for later probe
 *     rows, until the tolerance lets them match no more.
 *   1. Other conditions are evaluated on these last rows only. They do not make an earlier row
 *     the last.
 *   1. A build row may end the row before it, as the delete of a version does: from its time on
 *     the key has no last row. An end that is due is not stored: an earlier row of its key would
 *     be late.
 *
 * Settled rows are stored with the buffered build rows, and marked as matched.
 *
 * Example, trades as of the latest quote of their symbol, tolerance 10 minutes:
 *
 * {{{
 *   batch 1   quote 12:00 (price 10), trade 12:07, quote 12:05 (price 11)
 *             W(trades) = 12:08, W(quotes) = 12:06: the limit is 12:06
 *             the quotes are due: 12:05 is settled, 12:00 is dropped; the trade is buffered
 *   batch 2   quote 12:06 (price 12); both watermarks 12:20: the limit is 12:20
 *             the trade is due: joined with the quote of 12:06; the settled quote becomes 12:06
 *             12:06 + 10 minutes is below 12:20: the quote is evicted
 * }}}
 *
 * Sources: SQLstream s-Server, `OVER (ROWS n PRECEDING)` on an input; pandas, `merge_asof`; the
 * event-time temporal join of Flink SQL, which waits for both watermarks, too. Not thread-safe.
 *
 * @param joinType inner, left or right outer with the probe side preserved, or left semi or
 *   anti with the left side as the probe
 * @param state has one limit for each row, [[AsOfBounds.evictionLimit]]
 * @param disorder takes in how far rows arrive behind, by the columns that `column` has for the
 *   sides
 * @tparam R a row of either input
 * @tparam O a row of the output
 */
final class AsOfJoin[R, O](
    joinType: JoinType,
    bounds: AsOfBounds,
    rows: AsOfRows[R],
    output: JoinOutput[R, O],
    state: JoinState[R],
    val counters: Counters,
    disorder: Disorder,
    column: BySide[Int]
) {
  import bounds.{build, probe}

  private var received: Side => Long = _ => Watermarks.Unknown
  private var before = Watermarks.Unknown
  private var now = Watermarks.Unknown
  private val limits = new Array[Long](1)

  /**
   * Begins the batch.
   *
   * @param received the watermarks of both sides at the end of the batch before
   * @param arrived the same at the end of this batch, none of them less
   */
  def begin(received: Side => Long, arrived: Side => Long): Unit = {
    this.received = received
    before = bounds.limit(received)
    now = bounds.limit(arrived)
  }

  /**
   * A row arrives.
   *
   * @param due takes the row if it is due
   * @return the output for a late row, and for a row of the probe side that cannot match
   */
  def arrive(side: Side, row: R)(due: R => Unit): Option[O] = {
    counters.count(side, Input)
    if (rows.isTimeless(side, row)) {
      counters.count(side, NullTime)
      unmatchable(side, row)
    } else {
      val time = rows.time(side, row)
      val watermark = received(side)
      disorder.note(column(side), time, watermark)
      if (time < watermark) {
        counters.count(side, Late)
        output.late(side, row, column(side), watermark)
      } else if (!rows.joinable(side, row)) unmatchable(side, row)
      else {
        if (bounds.due(side, time) < now) due(row) else keep(side, row, settled = false)
        None
      }
    }
  }

  private def unmatchable(side: Side, row: R): Option[O] =
    Option.when(side == probe && joinType.preserves(probe))(unmatched(row))

  private def unmatched(row: R): O = {
    counters.count(NullPadded, 1L)
    output.unmatched(probe, row)
  }

  /**
   * The buffered rows of earlier batches that are due; must be read to its end, before
   * [[join]].
   */
  def release(side: Side): Iterator[R] =
    if (now == before) Iterator.empty
    else {
      state.evict(side, Array(before), Array(now)).map { released =>
        if (side == probe) counters.count(side, Evicted)
        released.row
      }
    }

  /** The sort order of the due rows of one side: by key hash, time, and build rows by the rest. */
  def compare(side: Side, one: R, other: R): Int = {
    val byKey = java.lang.Long.compare(rows.key(side, one), rows.key(side, other))
    if (byKey != 0) byKey else compareInKey(side, one, other)
  }

  /** The same for two rows with one key hash. */
  def compareInKey(side: Side, one: R, other: R): Int = {
    val byTime = java.lang.Long.compare(rows.time(side, one), rows.time(side, other))
    if (byTime != 0) byTime else rows.compareTied(side, one, other)
  }

  /**
   * Joins the due rows.
   *
   * @param due the due rows of a side, in the order of [[compare]]
   * @return the output; must be read to its end
   */
  def join(due: Side => Iterator[R]): Iterator[O] = new Pass(due(probe), due(build)).emitted

  private def keep(side: Side, row: R, settled: Boolean): Unit = {
    val time = rows.time(side, row)
    limits(0) = bounds.evictionLimit(side, time, settled)
    state.append(side, rows.key(side, row), time, limits, row, settled)
  }

  /** Merge of the due rows of both sides: key by key, and by time within a key. */
  private final class Pass(probes: Iterator[R], builds: Iterator[R]) {
    private val nextProbe = new Ahead(probe, probes)
    private val nextBuild = new Ahead(build, builds)
    private val settled = new Settled
    private var key = 0L
    private var inKey = false

    /** The results of the current probe row. */
    private var results: Iterator[O] = Iterator.empty
    private var meeting = false

    /** One result after another: each may overwrite the one before. */
    def emitted: Iterator[O] =
      Iterator.continually(proceed()).takeWhile(identity).flatMap(_ => results)

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
      counters.count(Joined, 1L)
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

  /** The settled build rows of all keys with one hash; mostly of one key. */
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

    /** The settled rows of the key of a probe row, the earliest first. */
    def of(row: R): collection.Seq[R] =
      keys.find(own => rows.hasKeyOf(row, own.head)).fold[collection.Seq[R]](Nil)(valid)

    /** The rows of one key without the end of those before them, which is the first. */
    private def valid(own: mutable.ArrayBuffer[R]): mutable.ArrayBuffer[R] =
      if (rows.ends(own.head)) own.tail else own

    private def insert(row: R): Unit = {
      val own = keys.find(some => rows.sameKey(some.head, row)).getOrElse {
        val none = mutable.ArrayBuffer.empty[R]
        keys += none
        none
      }
      var place = own.length
      while (place > 0 && compareInKey(build, own(place - 1), row) > 0) place -= 1
      own.insert(place, row)
      evictFirst(own, if (rows.ends(row)) place else math.max(0, own.length - bounds.count))
    }

    private def evictFirst(own: mutable.ArrayBuffer[R], count: Int): Unit = {
      own.remove(0, count)
      counters.count(build, Evicted, count.toLong)
    }

    /** Replaces the stored rows of the key by the settled ones. */
    def save(key: Long): Unit = if (changed) {
      val (last, old) = keys.iterator.flatten.partition { row =>
        !rows.ends(row) && bounds.expiry(rows.time(build, row)) >= now
      }
      counters.count(build, Evicted, old.size.toLong)
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
