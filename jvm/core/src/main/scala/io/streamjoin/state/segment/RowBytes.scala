package io.streamjoin.state.segment

import java.util.Arrays

/**
 * Bytes of rows, appended one after another in chunks, of which the first may lie on the local disk. A
 * place in it is one number: the chunk, the offset in it and the size, the last two in units of 8
 * bytes.
 *
 * {{{
 *   chunk     0 .. spilled - 1     .. last
 *   lies in   extents, the file    memory; the last one is open
 * }}}
 */
private[segment] final class RowBytes(disk: SpilledBytes) {
  import RowBytes._

  private var chunks = new Array[Array[Byte]](1)
  private var last = -1
  private var used = 0

  /** The size of the last chunk, 0 where none is open. */
  private var room = 0
  private var inMemory = 0L

  private var extents = new Array[Extent](0)
  private var spilled = 0

  def append[R](row: R, codec: RowCodec[R]): Long = {
    val size = codec.size(row)
    if (used + size > room) open(size)
    codec.write(row, chunks(last), used)
    val place = last.toLong << ChunkShift | (used.toLong >>> 3) << OffsetShift | (size >>> 3)
    used += size
    place
  }

  def read[R](place: Long, codec: RowCodec[R]): R = {
    val c = chunkNumber(place)
    if (c >= spilled) codec.read(chunks(c), offset(place), size(place))
    else disk.read(extents(c), offset(place), size(place), codec)
  }

  /** The bytes in memory among which the row lies. */
  def chunk(place: Long): Array[Byte] = chunks(chunkNumber(place))

  /** Where the next row goes, for [[reset]]. */
  def mark: Long = last.toLong << 32 | used

  /** Forgets what was appended since the mark was taken. */
  def reset(mark: Long): Unit = {
    val keep = (mark >> 32).toInt
    for (c <- keep + 1 to last) {
      inMemory -= chunks(c).length
      chunks(c) = null
    }
    last = keep
    used = mark.toInt
    room = if (last >= spilled) chunks(last).length else 0
  }

  /** Bytes held in memory. */
  def allocated: Long = inMemory

  /**
   * Moves chunks to the disk until so many bytes of memory are free, or nothing is left to move. What
   * is there now cannot be forgotten any more.
   *
   * @return how many bytes have become free
   */
  def spill(wanted: Long): Long = {
    var freed = 0L
    // the open chunk is closed by it, and there are only so many, each with what is known of it in memory
    while (freed < wanted && (spilled < last || spilled == last && last < MostClosedEarly)) {
      val chunk = chunks(spilled)
      freed += chunk.length
      if (spilled == extents.length) extents = Arrays.copyOf(extents, math.max(4, spilled * 2))
      extents(spilled) = disk.write(chunk, if (spilled == last) used else chunk.length)
      chunks(spilled) = null
      if (spilled == last) room = 0
      spilled += 1
    }
    inMemory -= freed
    freed
  }

  /** Gives back what it has on the disk; nothing is read any more. */
  def release(): Unit = for (c <- 0 until spilled) disk.release(extents(c))

  private def open(size: Int): Unit = {
    last += 1
    if (last == MaxChunks) throw new IllegalStateException("too many rows in one segment")
    if (last == chunks.length) chunks = Arrays.copyOf(chunks, last * 2)
    val next = if (room == 0) FirstChunk else math.min(room * 2L, LargestChunk).toInt
    room = math.max(size, next)
    chunks(last) = new Array[Byte](room)
    inMemory += room
    used = 0
  }
}

private[segment] object RowBytes {
  val FirstChunk: Int = 1 << 12

  /** Less than half of the smallest region of G1, which gives larger arrays regions of their own. */
  private val LargestChunk = 1L << 18
  private val MaxChunks = 1 << 20
  private val MostClosedEarly = 1 << 13

  // 20 bits of chunk, 15 of offset (256 KiB: a larger row is alone in its chunk), 28 of size (2 GiB)
  private val ChunkShift = 43
  private val OffsetShift = 28

  private def chunkNumber(place: Long): Int = (place >>> ChunkShift).toInt
  def offset(place: Long): Int = ((place >>> OffsetShift).toInt & 0x7fff) << 3
  def size(place: Long): Int = (place.toInt & 0xfffffff) << 3
}
