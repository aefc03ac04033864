package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.streamjoin.physical.stateful.RowSorter

/**
 * Sorts the rows of each partition by a hash, in the place of Spark's own sort, see [[RowsByHash]].
 *
 * @param order ascending, by the hash of some keys
 */
case class SortByHashExec(order: SortOrder, child: SparkPlan) extends UnaryExecNode {

  override def nodeName: String = "SortByHash"

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = Seq(order)

  override protected def doExecute(): RDD[InternalRow] = {
    val (keys, columns) = (order.child.children, child.output)
    child.execute().mapPartitionsInternal { rows =>
      val hash = RowHash.of(keys, columns)
      val hashOf = hash(_: UnsafeRow)
      new RowsByHash(
        columns.length,
        hashOf,
        SortMemory.of(TaskContext.get()),
        RowSorter.create(columns, hashOf, (_, _) => 0)
      ).sorted(rows.asInstanceOf[Iterator[UnsafeRow]])
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SortByHashExec =
    copy(child = newChild)
}
