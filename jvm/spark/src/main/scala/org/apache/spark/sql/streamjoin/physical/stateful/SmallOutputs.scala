package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.spark.{MapStatus, ShuffleWriteProcessor}
import org.apache.spark.util.AccumulatorV2
import org.apache.spark.{ShuffleDependency, SparkEnv, TaskContext}

/**
 * The outputs of a shuffle's map tasks that were so few rows that they came with the results of the tasks: by
 * the number that Spark gives to each attempt of a map task, the rows of each partition ([[FewRows]]).
 *
 * It is more than one attempt of a task that may tell. Which of them counts is in Spark's register of map
 * outputs, as for those that are in files.
 */
private[stateful] final class SmallOutputs
    extends AccumulatorV2[(Long, Array[Array[Byte]]), Map[Long, Array[Array[Byte]]]] {
  private var outputs = Map.empty[Long, Array[Array[Byte]]]

  override def isZero: Boolean = value.isEmpty
  override def copy(): SmallOutputs = {
    val c = new SmallOutputs
    c.outputs = value
    c
  }
  override def reset(): Unit = synchronized { outputs = Map.empty }
  override def add(output: (Long, Array[Array[Byte]])): Unit = synchronized { outputs += output }
  override def merge(
      other: AccumulatorV2[(Long, Array[Array[Byte]]), Map[Long, Array[Array[Byte]]]]
  ): Unit = {
    val more = other.value
    synchronized { outputs ++= more }
  }

  /** Tasks are written on one of Spark's threads, their results are taken in on another. */
  override def value: Map[Long, Array[Array[Byte]]] = synchronized(outputs)
}

/**
 * Writes the output of a map task: not at all where it is small.
 *
 * {{{
 *   partitions         0   1   ..   n-1    n
 *   in files           bytes of each       0     as Spark has it
 *   with the result    0   0   ..   0      1     nobody looks for a file
 * }}}
 *
 * @param outputs takes those that are small
 * @param most bytes of one that is
 */
private[stateful] final class SmallOutputsWriter(outputs: SmallOutputs, most: Long)
    extends ShuffleWriteProcessor {

  override def write(
      inputs: Iterator[_],
      dependency: ShuffleDependency[_, _, _],
      mapId: Long,
      mapIndex: Int,
      context: TaskContext
  ): MapStatus = {
    val rows = inputs.asInstanceOf[Iterator[Product2[Int, InternalRow]]]
    val few = new FewRows(dependency.partitioner.numPartitions - 1)
    while (few.size <= most && rows.hasNext) {
      val row = rows.next()
      few.add(row._1, row._2.asInstanceOf[UnsafeRow])
    }
    if (few.size > most) {
      super.write(few.numbered ++ rows, dependency, mapId, mapIndex, context)
    } else {
      val metrics = createMetricsReporter(context)
      metrics.incBytesWritten(few.size)
      metrics.incRecordsWritten(few.rows)
      outputs.add(mapId -> few.toBytes)
      MapStatus(
        SparkEnv.get.blockManager.shuffleServerId,
        SmallOutputsWriter.sizes(dependency.partitioner.numPartitions),
        mapId
      )
    }
  }
}

private[stateful] object SmallOutputsWriter {

  /** What Spark's register of map outputs has of one that is small, by partition. */
  def sizes(partitions: Int): Array[Long] = {
    val sizes = new Array[Long](partitions)
    sizes(partitions - 1) = 1L
    sizes
  }
}
