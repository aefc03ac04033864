package io.streamjoin.state.segment.pages

import java.util.Arrays

/**
 * Bytes of rows, appended in chunks, of which the first may be on the local disk. A place is
 * one number: the chunk, the offset in it and the size, the last two in units of 8 bytes.
 *
 * {{{
 *   chunk     0 .. spilled - 1     .. last
 *   is in     extents, the file    memory; the last one is open
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

  /** Bytes of all rows that were ever appended, and of the live ones. */
  private var written = 0L
  private var live = 0L

  private var sealedLast = -1
  private var sealedUsed = 0
  private var sealedWritten = 0L
  private var sealedLive = 0L

  def append[R](row: R, codec: RowCodec[R]): Long = {
    val size = codec.size(row)
    if (room == 0 || used + size > room) open(size)
    codec.write(row, chunks(last), used)
    val place = last.toLong << ChunkShift | (used.toLong >>> 3) << OffsetShift | (size >>> 3)
    used += size
    written += size
    live += size
    place
  }

  /** Writes a row over one that is not needed any more if there is room, else at the end. */
  def replace[R](place: Long, row: R, codec: RowCodec[R]): Long = {
    val size = codec.size(row)
    if (size > 0 && size <= RowBytes.size(place) && chunkNumber(place) >= spilled) {
      codec.write(row, chunks(chunkNumber(place)), offset(place))
      live += size
      place - (RowBytes.size(place) >>> 3) + (size >>> 3)
    } else append(row, codec)
  }

  /** The row is not needed any more; not to be called while something can be undone. */
  def free(place: Long): Unit = live -= size(place)

  def read[R](place: Long, codec: RowCodec[R]): R = {
    val c = chunkNumber(place)
    if (c >= spilled) codec.read(chunks(c), offset(place), size(place))
    else disk.read(extents(c), offset(place), size(place), codec)
  }

  /** The chunk in memory that has the row. */
  def chunk(place: Long): Array[Byte] = chunks(chunkNumber(place))

  /** A [[rollback]] keeps the bytes that are there now. */
  def seal(): Unit = {
    sealedLast = last
    sealedUsed = used
    sealedWritten = written
    sealedLive = live
  }

  /** Removes the bytes that were appended since; replaced rows are not restored. */
  def rollback(): Unit = {
    for (c <- sealedLast + 1 to last) {
      inMemory -= chunks(c).length
      chunks(c) = null
    }
    last = sealedLast
    used = sealedUsed
    written = sealedWritten
    live = sealedLive
    room = if (last >= spilled) chunks(last).length else 0
  }

  /** Whether there are bytes at a place after a [[rollback]]. */
  def contains(place: Long): Boolean = {
    val c = chunkNumber(place)
    c < last || c == last && offset(place) < used
  }

  /** Whether most bytes are not needed any more. */
  def isSparse: Boolean = written - live > live + 4 * FirstChunk

  /** Bytes in memory. */
  def allocated: Long = inMemory

  /**
   * Spills chunks until that much memory is free or all are spilled. The bytes that are there
   * now cannot be undone any more.
   *
   * @return the bytes that were freed
   */
  def spill(wanted: Long): Long = {
    var freed = 0L
    // this closes the open chunk; the number of chunks is limited, and each costs memory
    def mayClose = used > 0 && last < MostClosedEarly
    while (freed < wanted && (spilled < last || spilled == last && mayClose)) {
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

  /** Frees its extents of the disk; nothing is read afterwards. */
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

  /** No row has this place. */
  val Nowhere: Long = 0L

  /** Ascends with the chunk and the offset. */
  def position(place: Long): Long = place >>> OffsetShift

  def chunkNumber(place: Long): Int = (place >>> ChunkShift).toInt
  def offset(place: Long): Int = ((place >>> OffsetShift).toInt & 0x7fff) << 3
  def size(place: Long): Int = (place.toInt & 0xfffffff) << 3
}
