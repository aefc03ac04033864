package org.apache.spark.sql.streamjoin.physical.exchange

import scala.collection.mutable

import org.apache.spark.scheduler.MapStatus
import org.apache.spark.shuffle.ShuffleWriteProcessor
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.{ShuffleDependency, SparkEnv, TaskContext}

/**
 * Shuffle writer that packs rows into chunks, and writes no file if the output is inline.
 *
 * {{{
 *   partition     0   1   ..   n-1    n
 *   in a file     bytes of each       0
 *   inline        0   0   ..   0      1     no file is read
 * }}}
 *
 * @param inline receives outputs of at most this many bytes; none: all outputs are in files
 */
private[exchange] final class PackingWriter(inline: Option[(InlineOutputs, Long)])
    extends ShuffleWriteProcessor {

  override def write(
      inputs: Iterator[_],
      dependency: ShuffleDependency[_, _, _],
      mapId: Long,
      mapIndex: Int,
      context: TaskContext
  ): MapStatus = {
    val partitions = dependency.partitioner.numPartitions
    val packer = new RowPacker(partitions - 1)
    val chunks = packer.chunks(inputs.asInstanceOf[Iterator[NumberedRow]])
    val most = inline.fold(-1L)(_._2)
    val first = mutable.ArrayBuffer.empty[(Int, UnsafeRow)]
    while (packer.size <= most && chunks.hasNext) first += chunks.next()
    if (packer.size > most) {
      super.write(first.iterator ++ chunks, dependency, mapId, mapIndex, context)
    } else {
      val metrics = createMetricsReporter(context)
      metrics.incBytesWritten(packer.size)
      metrics.incRecordsWritten(packer.rows)
      val byNumber = first.groupMap(_._1)(_._2)
      inline.get._1
        .add(mapId, Array.tabulate(partitions - 1)(byNumber.getOrElse(_, Nil).toArray))
      MapStatus(SparkEnv.get.blockManager.shuffleServerId, PackingWriter.sizes(partitions), mapId)
    }
  }
}

private[exchange] object PackingWriter {

  /** The sizes by partition with which an inline output is registered in Spark. */
  def sizes(partitions: Int): Array[Long] = {
    val sizes = new Array[Long](partitions)
    sizes(partitions - 1) = 1L
    sizes
  }
}
