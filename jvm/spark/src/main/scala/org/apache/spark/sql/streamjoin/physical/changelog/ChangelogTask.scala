package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.{StateShape, StoredNumbers}
import org.apache.spark.sql.streamjoin.physical.stateful.{
  AwaitedArrivals,
  BaseWatermarks,
  BatchReport,
  HandedProgram,
  PartitionState
}

import io.streamjoin.join.changelog.{AppendOnlyJoin, Changed, ChangelogCounters, ChangelogJoin}
import io.streamjoin.model.{Side, Watermarks}

/**
 * One batch of one partition of a changelog join, from opening its state to committing it.
 *
 * Both inputs come sorted by the hash of their join key, so that the changes of one key are together and
 * no more than those are in memory; where rows only come, as they are.
 *
 * {{{
 *   changes --> late by the watermarks before the batch? dropped; else netted, joined, kept
 *   watermarks now --> rows of which nothing can change any more leave
 * }}}
 */
private[changelog] final class ChangelogTask(
    program: HandedProgram[ChangelogCode],
    batch: AwaitedArrivals,
    partitions: PartitionState,
    report: BatchReport
) extends Serializable {

  def run(
      partitionId: Int,
      left: Iterator[InternalRow],
      right: Iterator[InternalRow]
  ): Iterator[InternalRow] = {
    val code = program.forTask()
    val (spec, rows, output) = (code.spec, code.rows, code.output)
    val nowMs = batch().batchTimeMs
    val state = partitions.open(partitionId, shapeOf(code))
    val base = BaseWatermarks.next(spec.bases, spec.watermarks.rivals, batch(), state.numbers)
    val (before, now) = (spec.watermarks.received(base.before), spec.watermarks.received(base.now))
    val clock = clockOf(spec, state.numbers, nowMs)
    rows.begin(clock / 1000L, before)
    output.begin(partitions.info.storeVersion, nowMs)
    val counters = new ChangelogCounters
    val partners = RememberedPartners.take(partitions.info, partitionId)
    val changes: JoinedChanges =
      if (spec.appendOnly)
        new AppendedRows(
          rows,
          new AppendOnlyJoin[UnsafeRow, UnsafeRow](rows, output, state.rows, counters),
          left,
          right
        )
      else
        new ChangesByKey(
          rows,
          new ChangelogJoin[UnsafeRow, UnsafeRow](
            spec.joinType,
            rows,
            output,
            state.rows,
            counters,
            partners
          ),
          left,
          right
        )
    val clocks = new Clocks(spec)
    if (Side.both.exists(spec.side(_).ttlOfWrite.nonEmpty)) {
      val last = state.numbers.get(ChangelogTask.Clock).getOrElse(Watermarks.Unknown)
      for (side <- Side.both if spec.side(side).ttlOfWrite.nonEmpty)
        changes.operator.expire(
          side,
          clocks(side, before, before, last),
          clocks(side, before, before, clock),
          ChangelogCounters.Expired
        )
      state.numbers.put(ChangelogTask.Clock, clock)
    }
    lazy val finished: Unit = {
      for (side <- Side.both) {
        val (left, aged) =
          (clocks(side, now, before, clock), clocks(side, now, now, clock))
        val from = clocks(side, before, before, clock)
        if (!from.sameElements(left))
          changes.operator.expire(side, from, left, ChangelogCounters.Evicted)
        // a change that is not late may be older than rows get: it goes with its batch, whether a clock has moved or not
        if (spec.side(side).ttlTime.nonEmpty)
          changes.operator.expire(side, left, aged, ChangelogCounters.Expired)
      }
      state.commit(
        report,
        ChangelogMetrics.counted(counters, state.rows, spec.routing.countsIn(partitionId, _)),
        base,
        now
      )
      RememberedPartners.give(partitions.info, partitionId, partners)
    }
    val all = changes ++ new Iterator[Changed[UnsafeRow]] {
      override def hasNext: Boolean = {
        finished
        false
      }
      override def next(): Changed[UnsafeRow] = Iterator.empty.next()
    }
    val rowsOut = report.emitted
    all.map { changed =>
      rowsOut += 1
      output.row(changed)
    }
  }

  /** The recorded time, in microseconds, by which ages count: it does not go back where the clock of a machine does. */
  private def clockOf(spec: ChangelogSpec, numbers: StoredNumbers, nowMs: Long): Long = {
    val last =
      if (Side.both.forall(spec.side(_).ttlOfWrite.isEmpty)) None
      else numbers.get(ChangelogTask.Clock)
    last.fold(nowMs * 1000L)(math.max(_, nowMs * 1000L))
  }

  private def shapeOf(code: ChangelogCode): StateShape = {
    val of: Side => ChangelogSide = code.spec.side
    val appendOnly = code.spec.appendOnly
    StateShape(
      of(_).stored,
      of(_).limitCount,
      of(_).ttl.fold(1L)(ttl => math.max(1L, ttl / 16)),
      (side, row, _) => {
        val limits = new Array[Long](of(side).limitCount)
        code.rows.limits(side, row, limits)
        limits
      },
      side => !appendOnly && !of(side).oneAKey,
      renewed = of(_).ttlTime.nonEmpty
    )
  }
}

private object ChangelogTask {

  /** The clock of the last batch, in the state. */
  private val Clock = "clock"
}

/** The clocks of a side's limits, in their order. */
private final class Clocks(spec: ChangelogSpec) {

  /**
   * @param leaving the watermarks, by column, by which rows leave
   * @param aging those by which their age counts
   * @param written the clock of when rows were written
   */
  def apply(side: Side, leaving: Array[Long], aging: Array[Long], written: Long): Array[Long] = {
    val own = spec.side(side)
    (own.leaves.map(spec.leaving.clock(_, leaving)) ++
      own.ttl.map(_ => own.ttlTime.fold(written)(aging(_)))).toArray
  }
}
