package io.streamjoin.testing

import io.streamjoin.core.{JoinCounters, JoinOperator, JoinType, Side}
import io.streamjoin.state.HeapJoinState

/**
 * A join fed batch by batch: the rows of a batch are late by the watermarks of the batch before,
 * and rows of the side that comes second are kept only if they survive those of its end.
 */
final class BatchDriver(join: TestJoin, joinType: JoinType) {

  val counters = new JoinCounters
  private val state = new HeapJoinState[TestRow](identity)
  private val operator = new JoinOperator[TestRow, Emitted](
    joinType,
    join.bounds,
    join.rows,
    join.output,
    state,
    counters
  )

  /** @param watermarks what has been received by the end of the batch, by column */
  def batch(first: Side, rows: Seq[TestRow], watermarks: Array[Long]): Seq[Emitted] = {
    val (one, two) = rows.partition(_.side == first)
    one.flatMap(row => operator.process(row.side, row).toList) ++
      two.flatMap(row => operator.process(row.side, row, keepFor = watermarks).toList) ++
      operator.advance(watermarks).toList
  }

  def buffer(side: Side): Seq[TestRow] = state.all(side).map(_.row).toSeq
}
