package org.apache.spark.sql.streamjoin.physical.changelog

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.StateShape
import org.apache.spark.sql.streamjoin.physical.stateful.{BatchReport, PartitionState}

import io.streamjoin.join.changelog.{Change, Changed, ChangelogCounters, ChangelogJoin}
import io.streamjoin.model.{Side, Watermarks}

/**
 * One batch of one partition of a changelog join, from opening its state to committing it.
 *
 * Both inputs come sorted by the hash of their join key, so that the changes of one key are together and
 * no more than those are in memory.
 *
 * @param nowMs the recorded time of the batch
 */
private[changelog] final class ChangelogTask(
    spec: ChangelogSpec,
    nowMs: Long,
    partitions: PartitionState,
    report: BatchReport
) extends Serializable {

  def run(
      partitionId: Int,
      left: Iterator[InternalRow],
      right: Iterator[InternalRow]
  ): Iterator[InternalRow] = {
    val rows = new UnsafeChangelogRows(spec, nowMs)
    val output = new UnsafeChangelogOutput(spec, partitions.info.storeVersion, nowMs)
    val state = partitions.open(partitionId, shapeOf(rows))
    val counters = new ChangelogCounters
    val operator = new ChangelogJoin[UnsafeRow, UnsafeRow](
      spec.joinType,
      rows,
      output,
      state.rows,
      counters
    )
    val limited = Side.both.filter(spec.side(_).ttlMs.nonEmpty)
    if (limited.nonEmpty) {
      val before = state.numbers.get(ChangelogTask.Clock).getOrElse(Watermarks.Unknown)
      limited.foreach(operator.expire(_, before, nowMs * 1000L))
      state.numbers.put(ChangelogTask.Clock, nowMs * 1000L)
    }
    val (l, r) = (new KeyRuns(rows, Side.Left, left), new KeyRuns(rows, Side.Right, right))
    val changes = Iterator
      .continually(Seq(l, r).flatMap(_.key).minOption)
      .takeWhile(_.nonEmpty)
      .flatMap(key => operator.process(key.get, l.take(key.get), r.take(key.get)))
    lazy val finished: Unit = state.commit(report, ChangelogMetrics.counted(counters, state.rows))
    val end = new Iterator[Changed[UnsafeRow]] {
      override def hasNext: Boolean = {
        finished
        false
      }
      override def next(): Changed[UnsafeRow] = Iterator.empty.next()
    }
    (changes ++ end).map { changed =>
      report.metrics("numOutputRows") += 1
      output.row(changed)
    }
  }

  private def shapeOf(rows: UnsafeChangelogRows): StateShape =
    StateShape(
      spec.side(_).stored,
      side => spec.side(side).ttlMs.size,
      side => spec.side(side).ttlMs.fold(1L)(ms => math.max(1L, ms * 1000L / 16)),
      (side, row) => Array(rows.limit(side, row)),
      side => !spec.side(side).oneAKey
    )
}

private object ChangelogTask {

  /** The clock of the last batch, in the state. */
  private val Clock = "clock"
}

/** The changes of one input, join key by join key. */
private final class KeyRuns(rows: UnsafeChangelogRows, side: Side, input: Iterator[InternalRow]) {
  private var ahead: UnsafeRow = _
  private var aheadKey = 0L
  advance()

  /** The hash of the next changes' join key. */
  def key: Option[Long] = Option.when(ahead != null)(aheadKey)

  /** The changes of that key, if it is the next one. */
  def take(key: Long): collection.Seq[Change[UnsafeRow]] = {
    val run = mutable.ArrayBuffer.empty[Change[UnsafeRow]]
    while (ahead != null && aheadKey == key) {
      run += rows.change(side, ahead)
      advance()
    }
    run
  }

  private def advance(): Unit =
    if (input.hasNext) {
      ahead = input.next().asInstanceOf[UnsafeRow]
      aheadKey = rows.joinKey(side, ahead)
    } else ahead = null
}
