package org.apache.spark.sql.streamjoin.physical.stateful.shown

import io.streamjoin.join.{Count, Counters}
import io.streamjoin.model.Side
import io.streamjoin.state.JoinState

/**
 * The metrics of a kind of join, in Spark's user interface and in the query's progress.
 *
 * @param ofSide the counts of each input, with their texts
 * @param ofBoth the counts of both inputs together
 * @param removed the counts of rows that leave the state
 * @param ofState the counts of stored rows. Every partition counts its own, also of a copied input
 */
private[physical] abstract class JoinMetrics(
    ofSide: Seq[(Count, String)],
    ofBoth: Seq[(Count, String)],
    removed: Seq[Count],
    ofState: Set[Count] = Set.empty
) {

  final val figures: OperatorMetrics = new OperatorMetrics(
    Side.both.flatMap { side =>
      (ofSide.map(figure) ++ Seq(Figure.Ahead, Figure.Buffered)).map(_.of(side))
    } ++ ofBoth.map(figure)
  )

  private def figure(count: (Count, String)) = Figure(count._1.name, count._2)

  /**
   * The metrics of a partition in a batch.
   *
   * @param countsIn whether this partition counts the arriving rows of an input; of a copied input,
   *   only one partition does
   */
  final def counted(counters: Counters, buffered: JoinState[_])(
      countsIn: Side => Boolean
  ): Map[String, Long] = {
    def rows(side: Side, count: Count) =
      if (ofState(count) || countsIn(side)) counters.rows(side, count) else 0L
    def all(counts: Seq[Count]) =
      (for (side <- Side.both; count <- counts) yield rows(side, count)).sum
    Side.both.flatMap { side =>
      ofSide.map { case (count, _) => count.of(side) -> rows(side, count) } :+
        (Figure.Buffered.of(side).name -> buffered.size(side))
    }.toMap ++ ofBoth.map { case (count, _) => count.name -> counters.rows(count) } ++ Map(
      "numRowsDroppedByWatermark" -> all(Seq(Count.Late)),
      "numRemovedStateRows" -> all(removed)
    )
  }
}
