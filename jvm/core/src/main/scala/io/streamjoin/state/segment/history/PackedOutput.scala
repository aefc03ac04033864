package io.streamjoin.state.segment.history

import java.io.DataOutputStream

/**
 * Writer of numbers and bytes, one after another. It writes to the stream in thousands of
 * bytes, for each call of one of Java's streams takes a lock.
 *
 * A number takes 7 bits a byte, the lowest first. A distance, which may be negative, has its
 * sign lowest.
 */
private[segment] final class PackedOutput(out: DataOutputStream) {
  import PackedOutput._

  private val buffer = new Array[Byte](Size)
  private var used = 0

  def number(n: Long): Unit = {
    makeRoom(LargestNumber)
    var rest = n
    while ((rest & ~0x7fL) != 0) {
      buffer(used) = ((rest.toInt & 0x7f) | 0x80).toByte
      used += 1
      rest >>>= 7
    }
    buffer(used) = rest.toByte
    used += 1
  }

  def distance(n: Long): Unit = number(n << 1 ^ n >> 63)

  /** The 8 bytes of a number, the highest first. */
  def long(n: Long): Unit = {
    makeRoom(8)
    var shift = 56
    while (shift >= 0) {
      buffer(used) = (n >>> shift).toByte
      used += 1
      shift -= 8
    }
  }

  def bytes(from: Array[Byte], at: Int, size: Int): Unit =
    if (size > Size / 4) {
      flush()
      out.write(from, at, size)
    } else {
      makeRoom(size)
      System.arraycopy(from, at, buffer, used, size)
      used += size
    }

  def text(some: String): Unit = {
    flush()
    out.writeUTF(some)
  }

  /** Writes everything to the stream. */
  def flush(): Unit = {
    out.write(buffer, 0, used)
    used = 0
  }

  private def makeRoom(size: Int): Unit = if (used + size > Size) flush()
}

private object PackedOutput {
  private val Size = 1 << 13

  /** 64 bits by 7. */
  private val LargestNumber = 10
}
