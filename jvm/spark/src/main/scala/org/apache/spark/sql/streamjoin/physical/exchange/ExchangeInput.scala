package org.apache.spark.sql.streamjoin.physical.exchange

import java.io.ObjectOutputStream

import org.apache.spark.{Dependency, NarrowDependency, Partition, SparkContext, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * An input of a shuffle.
 *
 * @param rows rows with partition numbers
 * @param partitions the number of partitions
 * @param fields the number of columns
 * @param bytes metric of the size of the rows
 * @param count metric of the number of rows
 */
private[physical] final case class ExchangeInput(
    @transient rows: RDD[NumberedRow],
    partitions: Int,
    fields: Int,
    bytes: SQLMetric,
    count: SQLMetric
) {

  /**
   * The rows with the partition numbers of the shuffle. Runs in a task.
   *
   * @param first the number of the input's first partition
   * @return one object, reused for each row
   */
  def numbered(
      rows: Iterator[NumberedRow],
      first: Int
  ): Iterator[NumberedRow] = {
    rows.map { numbered =>
      bytes += numbered.row.asInstanceOf[UnsafeRow].getSizeInBytes
      count += 1
      numbered.to(first + numbered.number, numbered.row)
    }
  }
}

/**
 * RDD of the rows of several inputs with their partition numbers. The partitions of the inputs
 * follow each other, in the order of the inputs.
 *
 * {{{
 *   left    0   1          tasks   0: left 0, right 0
 *   right   0   1   2              1: left 1, right 1
 *                                  2: right 2
 * }}}
 *
 * A task reads a partition of each input under two conditions. Else it reads one partition of one
 * input.
 *
 * - There are at least as many tasks as cores.
 * - No partition has a preferred location.
 */
private[exchange] final class ExchangeInputs(spark: SparkContext, inputs: Seq[ExchangeInput])
    extends RDD[NumberedRow](spark, Nil) {

  override protected def getDependencies: Seq[Dependency[_]] = inputs.indices.map { input =>
    val tasks = this.tasks
    new NarrowDependency[NumberedRow](inputs(input).rows) {
      override def getParents(task: Int): Seq[Int] =
        tasks(task).collect { case (`input`, partition) => partition }
    }
  }

  override protected def getPartitions: Array[Partition] = {
    val rows = inputs.map(_.rows)
    tasks.zipWithIndex.map { case (parts, i) => new PartsOfInputs(i, rows, parts) }.toArray
  }

  /** The partitions that each task reads, as pairs of input and partition. */
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
  ): Iterator[NumberedRow] =
    split.asInstanceOf[PartsOfInputs].parts.iterator.flatMap { case (input, part) =>
      inputs(input).numbered(
        parent[NumberedRow](input).iterator(part, context),
        inputs.take(input).map(_.partitions).sum
      )
    }
}

/** @param of pairs of input and partition, in the order of the inputs */
private final class PartsOfInputs(
    override val index: Int,
    @transient rows: Seq[RDD[NumberedRow]],
    @transient of: Seq[(Int, Int)]
) extends Partition {

  var parts: Seq[(Int, Partition)] = now

  private def now = of.map { case (input, partition) => input -> rows(input).partitions(partition) }

  /**
   * Refreshes the parent partitions, as Spark's own partitions do: a checkpoint of the parent may
   * have replaced them.
   */
  private def writeObject(out: ObjectOutputStream): Unit = {
    parts = now
    out.defaultWriteObject()
  }
}
