package org.apache.spark.sql.streamjoin.physical.realtime

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.execution.{BinaryExecNode, SparkPlan}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike
import org.apache.spark.sql.streamjoin.physical.exchange.ExchangePlacement
import org.apache.spark.sql.streamjoin.physical.stateful.operator.BatchArrivals
import org.apache.spark.sql.streamjoin.physical.stateful.times.ImposeOrderExec
import org.apache.spark.sql.streamjoin.spark.RealTimeMode
import org.apache.spark.util.Utils

import io.streamjoin.model.{BySide, Side}

/**
 * Physical operator that unites both inputs of a join in real-time mode. It tags each row with its
 * partition and its side. When a task has read its input, it emits its largest event times, once
 * for each partition: see [[TaggedRow]].
 *
 * A task reads one partition of one input. So no input waits for the end of the other one. A
 * pipelined exchange below sends a partition to the task of the same number. So the tasks of the
 * input with an exchange come first.
 *
 * @param placements assigns the rows to partitions of the join
 * @param partitions the number of partitions of the join
 * @param output the columns of a tagged row
 */
private[physical] case class TaggedInputsExec(
    placements: BySide[ExchangePlacement],
    partitions: Int,
    output: Seq[Attribute],
    left: SparkPlan,
    right: SparkPlan
) extends BinaryExecNode {

  override def nodeName: String = "TaggedInputs"

  override def argString(maxFields: Int): String =
    Side.both.map(side => s"${side.name} ${placements(side)}").mkString(", ")

  override def producedAttributes: AttributeSet = AttributeSet(output)

  override def outputPartitioning: Partitioning =
    UnknownPartitioning(children.map(_.outputPartitioning.numPartitions).sum)

  private[physical] def exchanged: Seq[Side] =
    Side.both.filter(side => TaggedInputsExec.isExchanged(children(side.index)))

  override protected def doExecute(): RDD[InternalRow] = {
    val order = if (exchanged == Seq(Side.Right)) Side.both.reverse else Side.both
    sparkContext.union(order.map(side => tagged(side, children(side.index))))
  }

  private def tagged(side: Side, input: SparkPlan): RDD[InternalRow] = {
    val (placement, partitions, columns) = (placements(side), this.partitions, input.output)
    val recorded =
      TaggedInputsExec.recorders(input).map(order => order.orderId -> order.arrivedInTask)
    val below = TaggedInputsExec.joins(input).map(_.times)
    input.execute().mapPartitionsInternal { rows =>
      val writer = new TaggedRow.Writer
      val tagged = placement.numbered(rows, columns)
        .map(row => writer.row(row.number, side, row.row.asInstanceOf[UnsafeRow]))
      // evaluated when the rows have been read
      def times: Iterator[InternalRow] = {
        val ofTask = recorded.map { case (id, arrived) => id -> arrived() }.toMap
        val bytes = Utils.serialize(BatchArrivals.merged(ofTask +: below.map(_.all)))
        Iterator.range(0, partitions).map(writer.times(_, bytes))
      }
      tagged ++ times
    }
  }

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): TaggedInputsExec = copy(left = newLeft, right = newRight)
}

private[physical] object TaggedInputsExec {

  /** Whether a plan has a shuffle of the rows of a stream. That of a table is not pipelined. */
  def isExchanged(plan: SparkPlan): Boolean = plan.exists {
    case e: ShuffleExchangeLike => RealTimeMode.durationMs(e).nonEmpty
    case _                      => false
  }

  /** The nodes that record event times above the joins of a plan. */
  def recorders(plan: SparkPlan): Seq[ImposeOrderExec] = plan match {
    case _: ReceivesTimes   => Nil
    case o: ImposeOrderExec => o +: recorders(o.child)
    case other              => other.children.flatMap(recorders)
  }

  /** The topmost joins of a plan. */
  private def joins(plan: SparkPlan): Seq[ReceivesTimes] = plan match {
    case j: ReceivesTimes => Seq(j)
    case other            => other.children.flatMap(joins)
  }
}
