package org.apache.spark.sql.streamjoin.physical.timed

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.physical.stateful.shown.{Figure, OperatorMetrics}

import io.streamjoin.join.{Count, Counters}
import io.streamjoin.model.Side
import io.streamjoin.state.JoinState

/** The metrics of an event-time join, in Spark's user interface and in the query's progress. */
private[physical] object TimedJoinMetrics {

  private val ofSide = Seq(
    Count.Input -> "input rows",
    Count.Late -> "late rows",
    Count.NullTime -> "rows without a time",
    Count.Evicted -> "evicted rows"
  )

  private val ofBoth = Seq(
    Count.Joined -> "pairs joined",
    Count.LookedInto -> "rows without a match whose key was looked up",
    Count.KeyMet -> "of these, rows whose key the other input has",
    Count.NullPadded -> "rows emitted without a match"
  )

  val figures: OperatorMetrics = new OperatorMetrics(
    Side.both.flatMap { side =>
      val counted = ofSide.map { case (count, text) => Figure(count.name, text) }
      (counted ++ Seq(Figure.Ahead, Figure.Buffered)).map(_.of(side))
    } ++ ofBoth.map { case (count, text) => Figure(count.name, text) }
  )

  /**
   * The metrics of a partition in a batch of two inputs.
   *
   * @param countsIn whether this partition counts the arriving rows of an input; of a copied input,
   *   only one partition does
   */
  def counted(counters: Counters, buffered: JoinState[UnsafeRow])(
      countsIn: Side => Boolean
  ): Map[String, Long] = {
    def here(side: Side, what: Count) =
      if (what == Count.Evicted || countsIn(side)) counters.rows(side, what) else 0L
    Side.both.flatMap { side =>
      ofSide.map { case (count, _) => count.of(side) -> here(side, count) } :+
        (Figure.Buffered.of(side).name -> buffered.size(side))
    }.toMap ++ ofBoth.map { case (count, _) => count.name -> counters.rows(count) } ++ Map(
      "numRowsDroppedByWatermark" -> Side.both.map(here(_, Count.Late)).sum,
      "numRemovedStateRows" -> counters.rows(Count.Evicted)
    )
  }
}
