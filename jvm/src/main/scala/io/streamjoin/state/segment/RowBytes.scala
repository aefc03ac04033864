package io.streamjoin.state.segment

/**
 * Bytes of rows, appended one after another in chunks. A place in it is one number: the chunk, the
 * offset in it and the size, the last two in units of 8 bytes.
 */
private[segment] final class RowBytes {
  import RowBytes._

  private var chunks = new Array[Array[Byte]](1)
  private var last = -1
  private var used = 0

  def append[R](row: R, codec: RowCodec[R]): Long = {
    val size = codec.size(row)
    if (last < 0 || used + size > chunks(last).length) open(size)
    codec.write(row, chunks(last), used)
    val place = last.toLong << ChunkShift | (used.toLong >>> 3) << OffsetShift | (size >>> 3)
    used += size
    place
  }

  def read[R](place: Long, codec: RowCodec[R]): R =
    codec.read(chunk(place), offset(place), size(place))

  /** The bytes among which the row lies. */
  def chunk(place: Long): Array[Byte] = chunks(chunkNumber(place))

  /** Where the next row goes, for [[reset]]. */
  def mark: Long = last.toLong << 32 | used

  /** Forgets what was appended since the mark was taken. */
  def reset(mark: Long): Unit = {
    val keep = (mark >> 32).toInt
    for (c <- keep + 1 to last) chunks(c) = null
    last = keep
    used = mark.toInt
  }

  def allocated: Long = chunks.iterator.take(last + 1).map(_.length.toLong).sum

  private def open(size: Int): Unit = {
    last += 1
    if (last == MaxChunks) throw new IllegalStateException("too many rows in one segment")
    if (last == chunks.length) chunks = java.util.Arrays.copyOf(chunks, last * 2)
    val next =
      if (last == 0) FirstChunk else math.min(chunks(last - 1).length * 2L, LargestChunk).toInt
    chunks(last) = new Array[Byte](math.max(size, next))
    used = 0
  }
}

private[segment] object RowBytes {
  private val FirstChunk = 1 << 12
  private val LargestChunk = 1L << 20
  private val MaxChunks = 1 << 14

  // 14 bits of chunk, 22 of offset (32 MiB), 28 of size (2 GiB)
  private val ChunkShift = 50
  private val OffsetShift = 28

  private def chunkNumber(place: Long): Int = (place >>> ChunkShift).toInt
  def offset(place: Long): Int = ((place >>> OffsetShift).toInt & 0x3fffff) << 3
  def size(place: Long): Int = (place.toInt & 0xfffffff) << 3
}
