package org.apache.spark.sql.streamjoin.physical.consolidate

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  Expression,
  SortOrder,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.streamjoin.physical.exchange.RowsByBytes

/**
 * Physical operator that packs the two images of an update into one row, if they are adjacent. So
 * the exchange and the sort handle one row instead of two. All other rows pass without an old
 * image.
 *
 * The child emits rows in Spark's binary format: a projection computes the flag of
 * [[PackedUpdate]].
 *
 * @param same expressions that are equal in both images; the exchange partitions by some of them
 */
case class PackUpdatesExec(same: Seq[Expression], packed: PackedUpdate, child: SparkPlan)
    extends UnaryExecNode {

  override def nodeName: String = "PackUpdates"

  override def simpleString(maxFields: Int): String = nodeName

  override def output: Seq[Attribute] = child.output ++ packed.more

  override def producedAttributes: AttributeSet = AttributeSet(packed.more)

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = {
    val (equal, format, columns) = (same, packed, child.output)
    child.execute().mapPartitionsInternal { rows =>
      new PackedUpdates(equal, format, columns, rows.asInstanceOf[Iterator[UnsafeRow]])
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PackUpdatesExec =
    copy(child = newChild)
}

private[consolidate] final class PackedUpdates(
    same: Seq[Expression],
    packed: PackedUpdate,
    columns: Seq[Attribute],
    rows: Iterator[UnsafeRow]
) extends Iterator[InternalRow] {

  private val addedAt = columns.indexWhere(_.exprId == packed.added.exprId)
  private val replacesAt = columns.length

  private val key = RowsByBytes.of(same, columns)

  private val (alone, both) = {
    val old = columns.map(_.newInstance())
    val places = columns.map(_.exprId).zip(old).toMap
    val wanted = columns ++ (packed.replaces +: packed.replaced.map(a => places(a.exprId)))
    (CopiedColumns.of(wanted, columns), CopiedColumns.of(wanted, columns, old))
  }

  private val deleted = UnsafeRow.createFromByteArray(0, columns.length)

  /** A row that was read and not yet returned. */
  private var ahead: UnsafeRow = _

  override def hasNext: Boolean = ahead != null || rows.hasNext

  override def next(): InternalRow = {
    val row = if (ahead != null) ahead else rows.next()
    ahead = null
    if (row.getBoolean(addedAt)) single(row)
    else {
      // a copy: the next row may be the same object
      deleted.copyFrom(row)
      if (!rows.hasNext) single(deleted) else followedBy(rows.next())
    }
  }

  private def followedBy(next: UnsafeRow): InternalRow =
    if (next.getBoolean(addedAt) && key.equiv(deleted, next)) {
      val row = both(next, deleted)
      row.setBoolean(replacesAt, true)
      row
    } else {
      ahead = next
      single(deleted)
    }

  private def single(row: UnsafeRow): InternalRow = {
    val out = alone(row)
    var i = replacesAt + 1
    while (i < out.numFields) {
      out.setNullAt(i)
      i += 1
    }
    out
  }
}
