package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, Partitioning}

/**
 * A row with the number of its partition. One object shows one row after another, and no number is
 * boxed: there is one for each row of a batch.
 */
private[physical] final class NumberedRow extends Product2[Int, InternalRow] {
  var number = 0
  var row: InternalRow = _

  def to(number: Int, row: InternalRow): this.type = {
    this.number = number
    this.row = row
    this
  }

  override def _1: Int = number

  override def _2: InternalRow = row

  override def canEqual(other: Any): Boolean = other.isInstanceOf[NumberedRow]
}

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
  ): Iterator[NumberedRow]

  /** The same for all inputs that differ only in the ids of their columns. */
  def canonicalized(columns: Seq[Attribute]): ExchangePlacement = this
}

/** Assigns a row to the partition of its key, as Spark's own exchange does. */
private[physical] final case class ByKey(partitioning: HashPartitioning)
    extends ExchangePlacement {

  override def numbered(
      rows: Iterator[InternalRow],
      columns: Seq[Attribute]
  ): Iterator[NumberedRow] = {
    val number = new PartitionOfRow(partitioning, columns)
    val pair = new NumberedRow
    rows.map(row => pair.to(number(row), row))
  }

  override def canonicalized(columns: Seq[Attribute]): ByKey =
    ByKey(QueryPlan.normalizeExpressions(partitioning, columns))

  override def toString: String = partitioning.toString
}
