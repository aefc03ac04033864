package org.apache.spark.sql.streamjoin.rescale

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.StoredRow
import org.apache.spark.unsafe.Platform

import io.streamjoin.model.Side

/**
 * Packs the rows for each new partition into chunks, so that the shuffle has few records.
 *
 * @param full receives a new partition and a chunk for it
 */
private[rescale] final class RowChunks(partitions: Int, full: (Int, Array[Byte]) => Unit) {
  private val bytes = Array.fill(partitions)(new ByteArrayOutputStream(RowChunks.Least))
  private val out = bytes.map(new DataOutputStream(_))

  /** @param key the key under which the new partition stores the row */
  def add(partition: Int, key: Long, row: StoredRow): Unit = {
    val into = out(partition)
    into.writeByte(row.side.index * 2 + (if (row.matched) 1 else 0))
    into.writeLong(key)
    into.writeLong(row.time)
    into.writeByte(row.limits.length)
    row.limits.foreach(into.writeLong)
    val size = row.row.getSizeInBytes
    into.writeInt(size)
    into.write(row.row.getBytes, 0, size)
    if (bytes(partition).size >= RowChunks.Full) flush(partition)
  }

  def flush(): Unit = (0 until partitions).filter(bytes(_).size > 0).foreach(flush)

  private def flush(partition: Int): Unit = {
    full(partition, bytes(partition).toByteArray)
    bytes(partition).reset()
  }
}

private[rescale] object RowChunks {
  private val Least = 1 << 10
  private val Full = 1 << 15

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
