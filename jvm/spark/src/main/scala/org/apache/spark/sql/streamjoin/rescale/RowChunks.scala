package org.apache.spark.sql.streamjoin.rescale

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.StoredRow
import org.apache.spark.unsafe.Platform

import io.streamjoin.model.Side

/**
 * Packs the rows for each new partition into chunks, so that the shuffle has few records. With many
 * partitions the chunks are smaller: all open chunks together have a limit.
 *
 * @param full receives a new partition and a chunk for it
 */
private[rescale] final class RowChunks(partitions: Int, full: (Int, Array[Byte]) => Unit) {
  import RowChunks._

  private val open = new Array[Open](partitions)
  private var held = 0L

  /** @param key the key under which the new partition stores the row */
  def add(partition: Int, key: Long, row: StoredRow): Unit = {
    if (open(partition) == null) open(partition) = new Open
    val chunk = open(partition)
    held += chunk.add(key, row)
    if (chunk.size >= Full) flush(partition)
    else if (held >= Most) flush()
  }

  def flush(): Unit = (0 until partitions).filter(open(_) != null).foreach(flush)

  private def flush(partition: Int): Unit = {
    val chunk = open(partition)
    open(partition) = null
    held -= chunk.size
    full(partition, chunk.bytes)
  }
}

private[rescale] object RowChunks {
  private val Least = 1 << 10
  private val Full = 1 << 15

  /** The most bytes in open chunks. */
  val Most: Int = 1 << 23

  private final class Open {
    private val buffer = new ByteArrayOutputStream(Least)
    private val out = new DataOutputStream(buffer)

    def size: Int = buffer.size

    def bytes: Array[Byte] = buffer.toByteArray

    /** @return the number of bytes that it adds */
    def add(key: Long, row: StoredRow): Int = {
      val before = size
      out.writeByte(row.side.index * 2 + (if (row.matched) 1 else 0))
      out.writeLong(key)
      out.writeLong(row.time)
      out.writeByte(row.limits.length)
      row.limits.foreach(out.writeLong)
      val bytes = row.row.getSizeInBytes
      out.writeInt(bytes)
      out.write(row.row.getBytes, 0, bytes)
      size - before
    }
  }

  /** @param fields the number of columns of each side's rows */
  def rows(chunk: Array[Byte], fields: Side => Int): Iterator[StoredRow] = {
    val bytes = new ByteArrayInputStream(chunk)
    val in = new DataInputStream(bytes)
    new Iterator[StoredRow] {
      override def hasNext: Boolean = bytes.available > 0

      override def next(): StoredRow = {
        val first = in.readByte()
        val side = Side.both(first >> 1)
        val (key, time) = (in.readLong(), in.readLong())
        val limits = Array.fill(in.readByte().toInt)(in.readLong())
        val size = in.readInt()
        val row = new UnsafeRow(fields(side))
        row.pointTo(in.readNBytes(size), Platform.BYTE_ARRAY_OFFSET, size)
        StoredRow(side, key, time, limits, (first & 1) == 1, row)
      }
    }
  }
}
