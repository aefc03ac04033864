package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.physical.stateful.{Figure, OperatorMetrics}

import io.streamjoin.join.changelog.ChangelogCounters
import io.streamjoin.join.changelog.ChangelogCounters.Count
import io.streamjoin.model.Side
import io.streamjoin.state.JoinState

/** Metrics of a changelog join, for Spark's user interface and the progress of the query. */
private[changelog] object ChangelogMetrics {

  private def name(count: Count, side: Side): String = count.name + side.name.capitalize

  val figures: OperatorMetrics = new OperatorMetrics(
    Side.both.flatMap { side =>
      Figure(buffered(side), s"buffered rows, ${side.name}", isReading = true) +:
        Count.values.map(count => Figure(name(count, side), s"${words(count)}, ${side.name}"))
    } ++ Seq(
      Figure("aheadRowsLeft", "rows too far ahead, left"),
      Figure("aheadRowsRight", "rows too far ahead, right"),
      Figure("suppressedUpdates", "updates that change no output column"),
      Figure("changesOut", "changes emitted")
    )
  )

  private def buffered(side: Side): String = s"bufferedRows${side.name.capitalize}"

  private def words(count: Count): String = count.name.replaceAll("([A-Z])", " $1").toLowerCase

  /**
   * The metrics of one partition.
   *
   * @param countsHere whether this partition counts the changes of a side, and not another
   *   partition that has a copy of them
   */
  def counted(
      counters: ChangelogCounters,
      held: JoinState[UnsafeRow],
      countsHere: Side => Boolean
  ): Map[String, Long] = {
    def rows(side: Side, count: Count) = if (countsHere(side)) counters.rows(side, count) else 0L
    (for (side <- Side.both; count <- Count.values)
      yield name(count, side) -> rows(side, count)).toMap ++
      Side.both.map(side => buffered(side) -> held.size(side)) ++ Map(
        "numRemovedStateRows" -> Side.both.map { side =>
          rows(side, ChangelogCounters.Deleted) +
            rows(side, ChangelogCounters.Expired) +
            rows(side, ChangelogCounters.Evicted)
        }.sum,
        "numRowsDroppedByWatermark" ->
          Side.both.map(rows(_, ChangelogCounters.Late)).sum,
        "suppressedUpdates" -> counters.suppressedUpdates,
        "changesOut" -> counters.changesOut
      )
  }
}
