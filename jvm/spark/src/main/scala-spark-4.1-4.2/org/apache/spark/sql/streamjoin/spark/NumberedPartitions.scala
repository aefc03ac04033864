package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.catalyst.expressions.{DirectShufflePartitionID, Expression}
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, ShufflePartitionIdPassThrough}

/** A partitioning in which each row states the number of its partition. */
private[streamjoin] object NumberedPartitions {

  /** @return none where this version of Spark has no such partitioning */
  def by(number: Expression, partitions: Int): Option[Partitioning] =
    Some(ShufflePartitionIdPassThrough(DirectShufflePartitionID(number), partitions))
}
