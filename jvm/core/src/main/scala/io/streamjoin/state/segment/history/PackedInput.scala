package io.streamjoin.state.segment.history

import java.io.{ByteArrayInputStream, DataInputStream, EOFException, InputStream}
import java.nio.ByteBuffer
import java.util.Arrays
import java.util.zip.{CRC32C, Checksum}

/**
 * Reader of what a [[PackedOutput]] has written. It reads the stream in blocks, and numbers in
 * place: each byte of one of Java's streams costs two locks and the call of a checksum.
 *
 * @param in read to the end of a block, further than was requested
 * @param sum takes in the requested bytes and nothing else
 */
final class PackedInput(in: InputStream, sum: Checksum = new CRC32C) {
  import PackedInput._

  private var block = new Array[Byte](BlockBytes)
  private var numbers = ByteBuffer.wrap(block)

  /** The bytes of the block begin at 0. They are summed up to one place, and read up to another. */
  private var summed = 0
  private var at = 0
  private var end = 0

  def number(): Long = {
    var (n, shift, more) = (0L, 0, true)
    while (more) {
      if (at == end) ensure(1)
      val b = block(at)
      at += 1
      n |= (b & 0x7fL) << shift
      shift += 7
      more = b < 0
    }
    n
  }

  def distance(): Long = {
    val n = number()
    n >>> 1 ^ -(n & 1)
  }

  def int(): Int = {
    ensure(4)
    at += 4
    numbers.getInt(at - 4)
  }

  def long(): Long = {
    ensure(8)
    at += 8
    numbers.getLong(at - 8)
  }

  /** As [[java.io.DataOutput.writeUTF]] has written it. */
  def text(): String = {
    ensure(2)
    val size = 2 + (numbers.getShort(at) & 0xffff)
    ensure(size)
    at += size
    new DataInputStream(new ByteArrayInputStream(block, at - size, size)).readUTF()
  }

  /** Offset in [[bytes]] of the next bytes, valid until the next call. */
  def take(size: Int): Int = {
    ensure(size)
    at += size
    at - size
  }

  def bytes: Array[Byte] = block

  /** The checksum of all requested bytes. */
  def checksum(): Long = {
    sumUp()
    sum.getValue
  }

  private def sumUp(): Unit = {
    sum.update(block, summed, at - summed)
    summed = at
  }

  private def ensure(size: Int): Unit = if (end - at < size) {
    sumUp()
    System.arraycopy(block, at, block, 0, end - at)
    end -= at
    at = 0
    summed = 0
    while (end < size) {
      // a damaged count may be anything: no more memory is taken than there are bytes, twice
      if (end == block.length) {
        block = Arrays.copyOf(block, math.min(MostBytes, end * 2L).toInt)
        numbers = ByteBuffer.wrap(block)
      }
      val read = in.read(block, end, block.length - end)
      if (read < 0) throw new EOFException(s"it ends ${size - end} bytes too early")
      end += read
    }
  }
}

private object PackedInput {
  private val BlockBytes = 1 << 16

  /** Hardly less than the largest array. */
  private val MostBytes = Int.MaxValue - 16L
}
