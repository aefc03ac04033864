package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.physical.stateful.{
  AwaitedArrivals,
  BaseWatermarks,
  BatchOutput,
  HandedProgram,
  PartitionState
}

import io.streamjoin.join.eventtime.{EventTimeJoin, JoinCounters, JoinStats}
import io.streamjoin.model.{Placement, Side}
import io.streamjoin.state.JoinState

/**
 * One batch of one partition of a join, from opening its state to committing it.
 *
 * {{{
 *   watermarks before = stored          watermarks now = before, and what the batch brought
 *   left rows   --> late by before? partners in the store;  wait on the heap
 *   right rows  --> late by before? partners in the store and on the heap
 *   watermarks now --> evict, emit what never matched, write what is left, commit
 * }}}
 */
private[physical] final class JoinTask(
    program: HandedProgram[JoinCode],
    batch: AwaitedArrivals,
    partitions: PartitionState,
    report: JoinReport
) extends Serializable {

  def run(
      partitionId: Int,
      left: Iterator[InternalRow],
      right: Iterator[InternalRow]
  ): Iterator[InternalRow] = {
    val code = program.forTask()
    val (spec, rows) = (code.spec, code.rows)
    val held = report.held.map(_ => () => program.read().ready())
    val state = partitions.open(partitionId, JoinShape.of(code, held))
    val base = BaseWatermarks.next(spec.times.bases, spec.times.watermarks.rivals, batch(), state.numbers)
    val (before, now) = (spec.times.watermarks.received(base.before), spec.times.watermarks.received(base.now))
    val counters = new JoinCounters
    val keys = report.loads.map(_ => StoredKeyLoad.open(state.numbers, holdsRows(state.rows)))
    val operator = new EventTimeJoin[UnsafeRow, InternalRow](
      spec.joinType,
      spec.bounds,
      rows,
      code.output.answering(spec.routing.countsIn(partitionId, _)),
      state.rows,
      JoinStats(counters, spec.times.lags, keys.map(_.load)),
      Placement(spec.routing, partitionId, partitions.info.numPartitions)
    )
    val disorder = new StoredDisorder(operator.disorder)
    disorder.restore(state.numbers)
    operator.restore(before)

    new BatchOutput(
      left,
      right,
      (side, row) => operator.process(side, row, keepFor = if (side == Side.Left) before else now),
      () => operator.advance(now),
      () => {
        report.addTimes(partitionId, state.numbers, disorder, counters) { column =>
          spec.routing.countsIn(partitionId, spec.bounds.columns(column).side)
        }
        keys.foreach(report.addLoad(partitionId, state.numbers, _))
        // below no join what is kept can also be met
        report.held.foreach(_.add(
          operator.earliestBuffered ++
            operator.earliestUnmatched(side => spec.times.watermarks.isOfJoin(side.other))
        ))
        state.commit(
          report.common,
          counted(counters, state.rows)(spec.routing.countsIn(partitionId, _)),
          base,
          now
        )
      },
      report.common.emitted
    )
  }

  private def holdsRows(state: JoinState[UnsafeRow]): Boolean =
    Side.both.exists(state.size(_) > 0)

  private def counted(counters: JoinCounters, buffered: JoinState[UnsafeRow])(
      countsIn: Side => Boolean
  ): Map[String, Long] =
    JoinReport.rows(counters, buffered)(countsIn) ++ Map(
      "lookedIntoRows" -> counters.lookedIntoRows,
      "keyMetRows" -> counters.keyMetRows
    )
}
