package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.physical.stateful.{Figure, OperatorMetrics}

import io.streamjoin.join.{Count, Counters}
import io.streamjoin.model.Side
import io.streamjoin.state.JoinState

/** Metrics of a changelog join, for Spark's user interface and the progress of the query. */
private[physical] object ChangelogMetrics {

  val figures: OperatorMetrics = new OperatorMetrics(
    Side.both.flatMap { side =>
      Figure(buffered(side), s"buffered rows, ${side.name}", isReading = true) +:
        Count.ofChanges.map(count => Figure(count.of(side), s"${words(count)}, ${side.name}"))
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
      counters: Counters,
      held: JoinState[UnsafeRow],
      countsHere: Side => Boolean
  ): Map[String, Long] = {
    def rows(side: Side, count: Count) = if (countsHere(side)) counters.rows(side, count) else 0L
    def all(counts: Count*) = (for (side <- Side.both; count <- counts) yield rows(side, count)).sum
    (for (side <- Side.both; count <- Count.ofChanges)
      yield count.of(side) -> rows(side, count)).toMap ++
      Side.both.map(side => buffered(side) -> held.size(side)) ++ Map(
        "numRemovedStateRows" -> all(Count.Deleted, Count.Expired, Count.Evicted),
        "numRowsDroppedByWatermark" -> all(Count.Late),
        Count.Suppressed.name -> counters.rows(Count.Suppressed),
        Count.Emitted.name -> counters.rows(Count.Emitted)
      )
  }
}
