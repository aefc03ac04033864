package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.physical.{
  HashPartitioning,
  Partitioning,
  UnknownPartitioning
}

/**
 * A row with its partition number. An iterator reuses one object for all rows, and the number is
 * not boxed.
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

/** Assignment of the rows of an exchange to partitions. */
private[physical] trait ExchangePlacement extends Serializable {

  def partitioning: Partitioning

  /**
   * The rows with their partition numbers. A row with replicas is repeated, once for each
   * partition. Runs in a task.
   *
   * @return one object, reused for each row
   */
  def numbered(
      rows: Iterator[InternalRow],
      columns: Seq[Attribute]
  ): Iterator[NumberedRow]

  /** The same placement for all inputs that differ only in expression IDs. */
  def canonicalized(columns: Seq[Attribute]): ExchangePlacement = this
}

/** Placement of each row in all partitions. */
private[physical] final case class InAllPartitions(partitions: Int) extends ExchangePlacement {

  override def partitioning: Partitioning = UnknownPartitioning(partitions)

  override def numbered(
      rows: Iterator[InternalRow],
      columns: Seq[Attribute]
  ): Iterator[NumberedRow] = {
    val pair = new NumberedRow
    rows.flatMap(row => Iterator.range(0, partitions).map(pair.to(_, row)))
  }

  override def toString: String = "in all partitions"
}

/** Placement by key hash, as in Spark's own exchange. */
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
