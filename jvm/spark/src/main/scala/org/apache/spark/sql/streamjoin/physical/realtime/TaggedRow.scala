package org.apache.spark.sql.streamjoin.physical.realtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.physical.stateful.operator.BatchArrivals
import org.apache.spark.sql.types.{BinaryType, ByteType, IntegerType}
import org.apache.spark.util.Utils

import io.streamjoin.model.Side

/**
 * A row in the common exchange of both inputs of a join: a row of an input, or the event times of a
 * task that has read its input to the end.
 *
 * {{{
 *   partition   tag   content
 *   3           0     a left row
 *   3           1     a right row
 *   0 .. n-1    2     the largest event times that the task has read, once for each partition
 * }}}
 */
private[realtime] object TaggedRow {

  private val Times: Byte = 2
  private val Sides = Side.both.map(Some(_)).toArray

  def columns: Seq[Attribute] = Seq(
    AttributeReference("partition", IntegerType, nullable = false)(),
    AttributeReference("tag", ByteType, nullable = false)(),
    AttributeReference("content", BinaryType, nullable = false)()
  )

  /** Writes tagged rows into one reused row. */
  final class Writer {
    private val writer = new UnsafeRowWriter(3)

    def row(partition: Int, side: Side, row: UnsafeRow): UnsafeRow = {
      begin(partition, side.index.toByte)
      writer.write(2, row)
      writer.getRow
    }

    def times(partition: Int, times: Array[Byte]): UnsafeRow = {
      begin(partition, Times)
      writer.write(2, times)
      writer.getRow
    }

    private def begin(partition: Int, tag: Byte): Unit = {
      writer.reset()
      writer.write(0, partition)
      writer.write(1, tag)
    }
  }

  /** The side of a row of an input; none: it contains times. */
  def side(row: InternalRow): Option[Side] = row.getByte(1) match {
    case Times => None
    case index => Sides(index)
  }

  /** @param fields the number of columns of the input */
  def content(row: InternalRow, fields: Int): UnsafeRow =
    row.getStruct(2, fields).asInstanceOf[UnsafeRow]

  def times(row: InternalRow): BatchArrivals.ByOrder = Utils.deserialize(row.getBinary(2))
}

/** A node whose tasks receive the event times of all tasks below it. */
private[realtime] trait ReceivesTimes extends SparkPlan {

  /** The event times that a task has received. */
  private[realtime] def times: ReadTimes
}

/**
 * The largest event times of a batch that one task knows. Each task has its own copy.
 *
 * A task of a join has those of all tasks below it when its input ends. A task of the stage of the
 * join passes them on to the join above.
 */
private[realtime] final class ReadTimes extends Serializable {
  import BatchArrivals.{merged, ByOrder}

  private var times: ByOrder = Map.empty

  def all: ByOrder = times

  def add(more: ByOrder): Unit = times = merged(Seq(times, more))
}
