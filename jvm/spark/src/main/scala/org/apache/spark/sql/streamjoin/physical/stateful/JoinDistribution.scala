package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.physical.{
  AllTuples,
  ClusteredDistribution,
  Distribution,
  StatefulOpClusteredDistribution
}
import org.apache.spark.sql.streamjoin.spark.SparkCaseClass
import org.apache.spark.sql.types.{MapType, VariantType}

import io.streamjoin.model.Side
import io.streamjoin.placement.Routing

/** What a join asks of its inputs, by the way their rows are routed. */
private[physical] object JoinDistribution {

  /**
   * An input of which each partition needs all rows is brought together by one shuffle into a single
   * partition, which every task of the join then reads: its rows are written once however many
   * partitions there are.
   *
   * @param keys of each side, those by which rows meet; none: rows are spread
   * @param spread by which columns, where they can be hashed
   */
  def required(
      routing: Routing,
      keys: Side => Seq[Expression],
      spread: Side => Seq[Attribute],
      partitions: Int
  ): Seq[Distribution] = Side.both.map { side =>
    def clustered(by: Seq[Expression]) =
      StatefulOpClusteredDistribution(if (by.isEmpty) Seq(Literal(0)) else by, partitions)
    routing match {
      case _ if routing == Routing.Shared || routing.copies(side) => AllTuples
      case Routing.ByKey if keys(side).nonEmpty                   => clustered(keys(side))
      case _ => clustered(hashable(spread(side)))
    }
  }

  /** For what keeps nothing: rows that are equal in these end in one partition, whichever that is. */
  def together(by: Seq[Expression]): Distribution =
    SparkCaseClass.make(classOf[ClusteredDistribution], by, Boolean.box(false), None)

  /** As many columns as can be hashed: rows with one time need not end in one partition. */
  def hashable(columns: Seq[Attribute]): Seq[Attribute] =
    columns.filterNot(_.dataType.existsRecursively {
      case _: MapType | _: VariantType => true
      case _                           => false
    })
}
