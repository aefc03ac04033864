package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.physical.{
  AllTuples,
  Distribution,
  StatefulOpClusteredDistribution
}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.types.{MapType, VariantType}

import io.streamjoin.model.{Routing, Side}

/** What a join asks of its inputs, by the way their rows are routed. */
private[physical] object JoinDistribution {

  /**
   * An input of which each partition needs all rows is brought together by one shuffle into a single
   * partition, which every task of the join then reads: its rows are written once however many
   * partitions there are.
   */
  def required(
      spec: StreamJoinSpec,
      left: SparkPlan,
      right: SparkPlan,
      partitions: Int
  ): Seq[Distribution] = {
    def spread(keys: Seq[Expression]) = StatefulOpClusteredDistribution(keys, partitions)
    spec.routing match {
      case Routing.ByKey if spec.equiKeys.isEmpty =>
        Seq(spread(hashable(left)), spread(hashable(right)))
      case Routing.ByKey =>
        Seq(spread(spec.equiKeys.map(_.left)), spread(spec.equiKeys.map(_.right)))
      case Routing.Broadcast(Side.Left)  => Seq(spread(hashable(left)), AllTuples)
      case Routing.Broadcast(Side.Right) => Seq(AllTuples, spread(hashable(right)))
      case Routing.Shared                => Seq(AllTuples, AllTuples)
    }
  }

  /** As many columns as can be hashed: rows with one time need not end in one partition. */
  private def hashable(input: SparkPlan): Seq[Attribute] =
    input.output.filterNot(_.dataType.existsRecursively {
      case _: MapType | _: VariantType => true
      case _                           => false
    })
}
