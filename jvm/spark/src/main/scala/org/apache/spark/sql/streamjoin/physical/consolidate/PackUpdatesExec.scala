package org.apache.spark.sql.streamjoin.physical.consolidate

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeMap,
  AttributeSet,
  Expression,
  JoinedRow,
  Literal,
  SortOrder,
  UnsafeProjection,
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
  private val key = RowsByBytes.of(same, columns)

  private val (alone, both) = {
    val inputs = columns.map(_.withNullability(true))
    val old = inputs.map(_.newInstance())
    val oldOf = AttributeMap(columns.zip(old))
    val nulls = packed.replaced.map(a => Literal(null, a.dataType))
    (
      UnsafeProjection.create((inputs :+ Literal(false)) ++ nulls, inputs),
      UnsafeProjection.create(
        (inputs :+ Literal(true)) ++ packed.replaced.map(oldOf),
        inputs ++ old
      )
    )
  }
  private val pair = new JoinedRow

  private val deleted = UnsafeRow.createFromByteArray(0, columns.length)

  /** A row that was read and not yet returned. */
  private var ahead: UnsafeRow = _

  override def hasNext: Boolean = ahead != null || rows.hasNext

  override def next(): InternalRow = {
    val row = if (ahead != null) ahead else rows.next()
    ahead = null
    if (row.getBoolean(addedAt)) alone(row)
    else {
      // a copy: the next row may be the same object
      deleted.copyFrom(row)
      if (!rows.hasNext) alone(deleted) else followedBy(rows.next())
    }
  }

  private def followedBy(next: UnsafeRow): InternalRow =
    if (next.getBoolean(addedAt) && key.equiv(deleted, next)) both(pair(next, deleted))
    else {
      ahead = next
      alone(deleted)
    }
}
