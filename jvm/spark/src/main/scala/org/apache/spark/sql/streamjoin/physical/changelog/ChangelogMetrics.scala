package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.physical.stateful.shown.{Figure, OperatorMetrics}

import io.streamjoin.join.{Count, Counters}
import io.streamjoin.model.Side
import io.streamjoin.state.JoinState

/** Metrics of a changelog join, for Spark's user interface and the progress of the query. */
private[physical] object ChangelogMetrics {

  val figures: OperatorMetrics = new OperatorMetrics(
    Side.both.flatMap { side =>
      val counted = Count.ofChanges.map(count => Figure(count.name, words(count)))
      (counted ++ Seq(Figure.Ahead, Figure.Buffered)).map(_.of(side))
    } ++ Seq(
      Figure(Count.Suppressed.name, "updates that change no output column"),
      Figure(Count.Emitted.name, "changes emitted")
    )
  )

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
      Side.both.map(side => Figure.Buffered.of(side).name -> held.size(side)) ++ Map(
        "numRemovedStateRows" -> all(Count.Deleted, Count.Expired, Count.Evicted),
        "numRowsDroppedByWatermark" -> all(Count.Late),
        Count.Suppressed.name -> counters.rows(Count.Suppressed),
        Count.Emitted.name -> counters.rows(Count.Emitted)
      )
  }
}
