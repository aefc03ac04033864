package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, Partitioning}
import org.apache.spark.util.MutablePair

/** Assigns the rows of an exchange to partitions. */
private[physical] trait ExchangePlacement extends Serializable {

  def partitioning: Partitioning

  /**
   * In a task: each row with its partition, once for each partition that it goes to.
   *
   * @return each overwrites the one before
   */
  def numbered(
      rows: Iterator[InternalRow],
      columns: Seq[Attribute]
  ): Iterator[Product2[Int, InternalRow]]

  /** The same for all inputs that differ only in the ids of their columns. */
  def canonicalized(columns: Seq[Attribute]): ExchangePlacement = this
}

/** Assigns a row to the partition of its key, as Spark's own exchange does. */
private[physical] final case class ByKey(partitioning: HashPartitioning)
    extends ExchangePlacement {

  override def numbered(
      rows: Iterator[InternalRow],
      columns: Seq[Attribute]
  ): Iterator[Product2[Int, InternalRow]] = {
    val number = new PartitionOfRow(partitioning, columns)
    val pair = new MutablePair[Int, InternalRow]
    rows.map(row => pair.update(number(row), row))
  }

  override def canonicalized(columns: Seq[Attribute]): ByKey =
    ByKey(QueryPlan.normalizeExpressions(partitioning, columns))

  override def toString: String = partitioning.toString
}
