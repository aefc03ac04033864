package org.apache.spark.sql.streamjoin.physical.stateful.operator

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.physical.{
  AllTuples,
  Distribution,
  StatefulOpClusteredDistribution
}
import org.apache.spark.sql.types.{MapType, VariantType}

import io.streamjoin.model.Side
import io.streamjoin.placement.Routing

/** Required distribution of the inputs of a stateful operator. */
private[streamjoin] object JoinDistribution {

  /**
   * The distributions of a join, by its routing.
   *
   * If each partition needs all rows of an input, one shuffle writes these rows to a single
   * partition. Every task of the join reads that partition. So each row is written once, for any
   * number of partitions.
   *
   * @param keys the join keys of each side; empty: the rows of the side are spread
   * @param spread the columns by whose hash the rows of a side are spread
   */
  def required(
      routing: Routing,
      keys: Side => Seq[Expression],
      spread: Side => Seq[Attribute],
      partitions: Int
  ): Seq[Distribution] = Side.both.map { side =>
    def clustered(by: Seq[Expression]) =
      StatefulOpClusteredDistribution(orOnePartition(by), partitions)
    routing match {
      case _ if routing == Routing.Shared || routing.copies(side) => AllTuples
      case Routing.ByKey if keys(side).nonEmpty                   => clustered(keys(side))
      case _ => clustered(hashable(spread(side)))
    }
  }

  /** The expressions by whose hash rows are placed. Without any, all rows are in one partition. */
  def orOnePartition(by: Seq[Expression]): Seq[Expression] = if (by.isEmpty) Seq(Literal(0)) else by

  /** The columns that Spark can hash. Without the others, equal rows still are in one partition. */
  def hashable(columns: Seq[Attribute]): Seq[Attribute] =
    columns.filterNot(_.dataType.existsRecursively {
      case _: MapType | _: VariantType => true
      case _                           => false
    })
}
