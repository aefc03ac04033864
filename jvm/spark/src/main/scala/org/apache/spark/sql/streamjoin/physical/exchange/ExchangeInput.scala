package org.apache.spark.sql.streamjoin.physical.exchange

import java.io.ObjectOutputStream

import org.apache.spark.{Dependency, NarrowDependency, Partition, SparkContext, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * An input of a shuffle.
 *
 * @param rows each with the number of its partition
 * @param partitions above all numbers
 * @param fields how many columns a row has
 * @param bytes of its rows, as Spark shows it
 * @param count of its rows
 */
private[physical] final case class ExchangeInput(
    @transient rows: RDD[NumberedRow],
    partitions: Int,
    fields: Int,
    bytes: SQLMetric,
    count: SQLMetric
) {

  /**
   * In a task.
   *
   * @param first the number of the input's first partition
   * @return each overwrites the one before
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
 * The rows of several inputs, each with the number of its partition. The partitions of an input come
 * after those of the one before.
 *
 * {{{
 *   left    0   1          tasks   0: left 0, right 0
 *   right   0   1   2              1: left 1, right 1
 *                                  2: right 2
 * }}}
 *
 * A task has a partition of each input if there are then as many tasks as cores, and no partition has
 * a preferred machine. Else it has one partition of one input.
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
  ): Iterator[NumberedRow] =
    split.asInstanceOf[PartsOfInputs].parts.iterator.flatMap { case (input, part) =>
      inputs(input).numbered(
        parent[NumberedRow](input).iterator(part, context),
        inputs.take(input).map(_.partitions).sum
      )
    }
}

/** @param of which partition of which input, in the order of the inputs */
private final class PartsOfInputs(
    override val index: Int,
    @transient rows: Seq[RDD[NumberedRow]],
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
