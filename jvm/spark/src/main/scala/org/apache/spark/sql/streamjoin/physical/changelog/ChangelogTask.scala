package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.streamjoin.checkpoint.StateShape
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{
  BaseWatermarks,
  BatchArrivals,
  PartitionState,
  PartitionTask
}
import org.apache.spark.sql.streamjoin.physical.stateful.shown.BatchReport

import io.streamjoin.join.changelog.{AppendOnlyJoin, ChangelogJoin}
import io.streamjoin.join.Counters
import io.streamjoin.model.{Side, Watermarks}

/**
 * One batch of one partition of a changelog join, from opening its state to committing it.
 *
 * Both inputs are sorted by the hash of the join key, so only the changes of one key are in memory.
 * Without an equality in the condition, all rows of the partition have one key. Append-only inputs
 * are not sorted.
 *
 * {{{
 *   clock of the batch --> expires rows by their last write, or, if their expiry retracts results,
 *                          by event time
 *   changes            --> below a watermark before the batch? late, ignored
 *                          else consolidated, joined, stored
 *   watermarks now     --> evict rows that nothing can change, and expire rows by event time
 * }}}
 */
private[changelog] final class ChangelogTask(
    partitionId: Int,
    spec: ChangelogSpec,
    batch: BatchArrivals,
    partitions: PartitionState,
    report: BatchReport
) extends PartitionTask {
  private val rows = new UnsafeChangelogRows(spec)
  private val state = partitions.open(partitionId, ChangelogTask.shape(spec, rows))
  private val base =
    BaseWatermarks.next(spec.times.bases, spec.times.watermarks.rivals, batch, state.numbers)
  private val (before, now) =
    (spec.times.watermarks.received(base.before), spec.times.watermarks.received(base.now))
  private val agesByWrite = Side.both.filter(spec.side(_).expiry.ttlOfWrite.nonEmpty)

  /**
   * The clock of the last batch, in microseconds, if the age of rows counts from the last write.
   */
  private val lastClock =
    if (agesByWrite.isEmpty) None else state.numbers.get(ChangelogTask.Clock)

  /**
   * The recorded time of the batch. It never decreases, even if the clock of the machine does.
   */
  private val clock = {
    val recorded = batch.batchTimeMs * 1000L
    lastClock.fold(recorded)(math.max(_, recorded))
  }

  rows.begin(clock / 1000L, before, now)
  private val written =
    new UnsafeChangelogOutput(spec, partitions.info.storeVersion, batch.batchTimeMs)

  private val counters = new Counters
  private val partners = RememberedPartners.take(partitions.info, partitionId)
  private val changes =
    if (spec.appendOnly)
      new AppendedRows(rows, new AppendOnlyJoin(rows, written, state.rows, counters))
    else
      new ChangesByKey(
        rows,
        new ChangelogJoin(spec.on.joinType, rows, written, state.rows, counters, partners)
      )
  import changes.operator

  override def arrive(
      left: Iterator[InternalRow],
      right: Iterator[InternalRow]
  ): Iterator[InternalRow] = {
    val last = lastClock.getOrElse(Watermarks.Unknown)
    for (side <- Side.both)
      if (agesByWrite.contains(side) || spec.side(side).expiry.retracts)
        operator.expire(side, clocks(side, before, before, last), clocks(side, before, aged(side)))
    if (agesByWrite.nonEmpty) state.numbers.put(ChangelogTask.Clock, clock)
    changes.of(left, right).map(written.row)
  }

  /** The watermarks by which rows have expired when the changes arrive. */
  private def aged(side: Side): Array[Long] = if (spec.side(side).expiry.retracts) now else before

  override def advance(): Iterator[InternalRow] = {
    for (side <- Side.both) {
      val arrived = clocks(side, before, aged(side))
      val evicted = clocks(side, now, aged(side))
      if (!arrived.sameElements(evicted)) operator.evict(side, arrived, evicted)
      // a change that is not late may be older than state_ttl: its row expires at the end of this
      // batch, even if no clock advances
      if (spec.side(side).expiry.ttlTime.nonEmpty)
        operator.expire(side, evicted, clocks(side, now, now))
    }
    Iterator.empty
  }

  override def commit(): Unit = {
    state.commit(
      report,
      ChangelogMetrics.counted(counters, state.rows)(spec.routing.countsIn(partitionId, _)),
      base,
      now
    )
    RememberedPartners.give(partitions.info, partitionId, partners)
  }

  /**
   * The clocks of a side, one for each limit of its rows.
   *
   * @param leaving the watermarks that evict rows, by column
   * @param aging the watermarks by which rows expire by event time, by column
   * @param written the clock by which rows expire by their last write
   */
  private def clocks(
      side: Side,
      leaving: Array[Long],
      aging: Array[Long],
      written: Long = clock
  ): Array[Long] = {
    val own = spec.side(side)
    (own.expiry.leaves.map(spec.leaving.clock(_, leaving)) ++
      own.expiry.ttl.map(_ => own.expiry.ttlTime.fold(written)(aging(_)))).toArray
  }
}

private object ChangelogTask {

  /** The name of the clock of the last batch in the state. */
  private val Clock = "clock"

  private def shape(spec: ChangelogSpec, rows: UnsafeChangelogRows): StateShape = {
    val of: Side => ChangelogSide = spec.side
    val appendOnly = spec.appendOnly
    StateShape(
      of(_).stored,
      of(_).expiry.limitCount,
      of(_).expiry.ttl.fold(1L)(ttl => math.max(1L, ttl / 16)),
      (side, row, _) => {
        val limits = new Array[Long](of(side).expiry.limitCount)
        rows(side).limits(row, limits)
        limits
      },
      side => !appendOnly && !of(side).key.oneAJoinKey,
      renewed = of(_).expiry.ttlTime.nonEmpty
    )
  }
}
