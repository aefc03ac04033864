package io.streamjoin.benchmarks.limit

/**
 * The reference of a changelog join: the join of its inputs as they are after their last row, made once.
 * It gives no changes, and keeps nothing: what it costs is no bound for an engine.
 *
 * @param inputs how many there are
 * @param last the number of the closing row of an input
 */
final class FinalTables(inputs: Int, last: Int => Long)(join: => Unit) extends Loop {
  private var closed = 0

  override def arrive(stream: Int, row: Long): Unit =
    if (row == last(stream)) {
      closed += 1
      if (closed == inputs) join
    }

  override def bufferedRows: Long = 0
  override def bufferedBytes: Long = 0
}
