package org.apache.spark.sql.streamjoin.physical.stateful

import java.io.ObjectOutputStream

import org.apache.spark.{Dependency, NarrowDependency, Partition, SparkContext, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.util.MutablePair

/**
 * An input of a shuffle, with what says where a row goes.
 *
 * @param bytes of its rows, as Spark shows it
 * @param count of its rows
 */
private[stateful] final class NumberedInput(
    @transient val rows: RDD[InternalRow],
    columns: Seq[Attribute],
    partitioning: HashPartitioning,
    val bytes: SQLMetric,
    val count: SQLMetric
) extends Serializable {

  def fields: Int = columns.length

  def partitions: Int = partitioning.numPartitions

  /**
   * In a task.
   *
   * @param first the number of the input's first partition
   * @return each overwrites the one before
   */
  def numbered(rows: Iterator[InternalRow], first: Int): Iterator[Product2[Int, InternalRow]] = {
    val number = new PartitionOfRow(partitioning, columns)
    val pair = new MutablePair[Int, InternalRow]
    rows.map { row =>
      bytes += row.asInstanceOf[UnsafeRow].getSizeInBytes
      count += 1
      pair.update(first + number(row), row)
    }
  }
}

/**
 * The rows of several inputs, each with the number of the partition that it goes to: those of an input come
 * after those of the one before.
 *
 * {{{
 *   left    0   1          tasks   0: left 0, right 0
 *   right   0   1   2              1: left 1, right 1
 *                                  2: right 2
 * }}}
 *
 * A task has a partition of each input where there are as many tasks as cores for all that and nothing says on
 * which machine to run one; else it has one of one input.
 */
private[stateful] final class NumberedInputs(spark: SparkContext, inputs: Seq[NumberedInput])
    extends RDD[Product2[Int, InternalRow]](spark, Nil) {

  override protected def getDependencies: Seq[Dependency[_]] = inputs.indices.map { input =>
    val tasks = this.tasks
    new NarrowDependency[InternalRow](inputs(input).rows) {
      override def getParents(task: Int): Seq[Int] =
        tasks(task).collect { case (`input`, partition) => partition }
    }
  }

  override protected def getPartitions: Array[Partition] = {
    val rows = inputs.map(_.rows)
    tasks.zipWithIndex.map { case (parts, i) => new PartsOfInputs(i, rows, parts) }.toArray
  }

  /** The partitions of inputs that each task has. */
  @transient private lazy val tasks: IndexedSeq[Seq[(Int, Int)]] = {
    val all = inputs.indices.flatMap { input =>
      inputs(input).rows.partitions.indices.map(input -> _)
    }
    val byPartition = all.groupBy(_._2).toIndexedSeq.sortBy(_._1).map(_._2)
    val anywhere = byPartition.length >= sparkContext.defaultParallelism && all.forall {
      case (input, partition) =>
        sparkContext.getPreferredLocs(inputs(input).rows, partition).isEmpty
    }
    if (anywhere) byPartition else all.map(Seq(_))
  }

  override def compute(
      split: Partition,
      context: TaskContext
  ): Iterator[Product2[Int, InternalRow]] =
    split.asInstanceOf[PartsOfInputs].parts.iterator.flatMap { case (input, part) =>
      inputs(input).numbered(
        parent[InternalRow](input).iterator(part, context),
        inputs.take(input).map(_.partitions).sum
      )
    }
}

/** @param of which partition of which input, in the order of the inputs */
private final class PartsOfInputs(
    override val index: Int,
    @transient rows: Seq[RDD[InternalRow]],
    @transient of: Seq[(Int, Int)]
) extends Partition {

  var parts: Seq[(Int, Partition)] = now

  private def now = of.map { case (input, partition) => input -> rows(input).partitions(partition) }

  /** As Spark's own partitions that stand on others: those may have been replaced. */
  private def writeObject(out: ObjectOutputStream): Unit = {
    parts = now
    out.defaultWriteObject()
  }
}
