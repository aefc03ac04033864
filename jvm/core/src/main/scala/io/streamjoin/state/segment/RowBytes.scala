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

  /** Bytes of all rows that were ever appended, and of those that are still of use. */
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
    appended(size)
  }

  private def appended(size: Int): Long = {
    val place = last.toLong << ChunkShift | (used.toLong >>> 3) << OffsetShift | (size >>> 3)
    used += size
    written += size
    live += size
    place
  }

  /** Puts a row where one lay that is of no more use, if there is room enough, else at the end. */
  def replace[R](place: Long, row: R, codec: RowCodec[R]): Long = {
    val size = codec.size(row)
    if (size > 0 && size <= RowBytes.size(place) && chunkNumber(place) >= spilled) {
      codec.write(row, chunks(chunkNumber(place)), offset(place))
      live += size
      place - (RowBytes.size(place) >>> 3) + (size >>> 3)
    } else append(row, codec)
  }

  /** The row is of no more use; not to be called while something can be undone. */
  def free(place: Long): Unit = live -= size(place)

  def read[R](place: Long, codec: RowCodec[R]): R = {
    val c = chunkNumber(place)
    if (c >= spilled) codec.read(chunks(c), offset(place), size(place))
    else disk.read(extents(c), offset(place), size(place), codec)
  }

  /** The bytes in memory among which the row lies. */
  def chunk(place: Long): Array[Byte] = chunks(chunkNumber(place))

  /** What is there now is not forgotten by [[rollback]]. */
  def seal(): Unit = {
    sealedLast = last
    sealedUsed = used
    sealedWritten = written
    sealedLive = live
  }

  /** Forgets what was appended since; what was replaced is of no more use. */
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

  /** Whether there is something at a place after a [[rollback]]. */
  def contains(place: Long): Boolean = {
    val c = chunkNumber(place)
    c < last || c == last && offset(place) < used
  }

  /** Whether most bytes are of rows of no more use. */
  def isSparse: Boolean = written - live > live + 4 * FirstChunk

  /** One more than the greatest number of a chunk. */
  def chunkCount: Int = last + 1

  /**
   * Moves rows together; of what is not among them nothing is left. Each chunk is given back as soon as
   * it is behind, and what comes from the disk goes there: no more memory is needed for it than for
   * some chunks. Nothing must be to be undone.
   *
   * @param count how many rows
   * @param place of each, in the order of their chunks
   * @param moved is told the new place of each
   */
  def compact(count: Int, place: Int => Long, moved: (Int, Long) => Unit): Unit = {
    val to = new RowBytes(disk)
    var from = -1
    var source = Array.emptyByteArray
    def leave(until: Int): Unit =
      for (c <- math.max(0, from) until until) {
        if (c < spilled) {
          disk.release(extents(c))
          to.spill(to.allocated - to.room)
        } else chunks(c) = null
      }
    for (n <- 0 until count) {
      val at = place(n)
      val c = chunkNumber(at)
      if (c != from) {
        leave(c)
        from = c
        source = if (c < spilled) disk.readAll(extents(c)) else chunks(c)
      }
      moved(n, to.copy(source, offset(at), size(at)))
    }
    leave(last + 1)
    chunks = to.chunks
    last = to.last
    used = to.used
    room = to.room
    inMemory = to.inMemory
    extents = to.extents
    spilled = to.spilled
    written = to.written
    live = to.live
    seal()
  }

  private def copy(source: Array[Byte], at: Int, size: Int): Long = {
    if (room == 0 || used + size > room) open(size)
    System.arraycopy(source, at, chunks(last), used, size)
    appended(size)
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

  /** No row lies there. */
  val Nowhere: Long = 0L

  def chunkNumber(place: Long): Int = (place >>> ChunkShift).toInt
  def offset(place: Long): Int = ((place >>> OffsetShift).toInt & 0x7fff) << 3
  def size(place: Long): Int = (place.toInt & 0xfffffff) << 3
}
