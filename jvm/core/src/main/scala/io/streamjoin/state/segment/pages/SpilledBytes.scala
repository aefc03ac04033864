package io.streamjoin.state.segment.pages

import java.nio.ByteBuffer

/**
 * The bytes and numbers of one side in the spill file. They are read through a window: with a
 * row it reads the rows behind it in its extent. They are evicted at the same time and mostly
 * needed next.
 *
 * @param recalled called when many rows have been recalled; it may refuse by an exception
 * @param mayRecall whether this many bytes may be recalled that could stay on the disk
 * @param searchedFrom segments of at least this many rows are searched on the disk
 */
private[segment] final class SpilledBytes(
    file: SpillFile,
    recalled: () => Unit = () => (),
    val mayRecall: Long => Boolean = _ => false,
    val searchedFrom: Int = Spilling.SearchedFrom
) {
  import SpilledBytes._

  /** The rows that are readable at present. */
  val rows: RowWindow = new RowWindow(readNumbers(_, _, _, _, _))

  private val pieceBytes = ByteBuffer.allocate(PieceBytes)
  private var pieceNumbers = Array.emptyLongArray

  private var window = Array.emptyByteArray
  private var from = 0L
  private var until = 0L

  def write(bytes: Array[Byte], length: Int): Extent = {
    // the window may have bytes that are overwritten now
    forget()
    file.write(bytes, length)
  }

  /** The row at an offset in the extent; valid until the next read. */
  def read[R](extent: Extent, offset: Int, size: Int, codec: RowCodec[R]): R = {
    val position = extent.position + offset
    if (position < from || position + size > until) {
      show(position, math.max(size, math.min(extent.length - offset, WindowBytes)))
    }
    codec.read(window, (position - from).toInt, size)
  }

  def write(numbers: Array[Long]): Extent = {
    val bytes = ByteBuffer.allocate(numbers.length * 8)
    bytes.asLongBuffer.put(numbers)
    write(bytes.array, bytes.capacity)
  }

  def readNumbers(extent: Extent): Array[Long] = {
    val numbers = new Array[Long](extent.length / 8)
    readNumbers(extent, 0, numbers.length, numbers, 0)
    numbers
  }

  /** Some numbers of an extent, from one of them on. */
  def readNumbers(extent: Extent, from: Int, count: Int, into: Array[Long], at: Int): Unit = {
    var read = 0
    while (read < count) {
      val some = math.min(count - read, PieceBytes / 8)
      file.read(extent.position + (from + read) * 8L, pieceBytes.array, some * 8)
      pieceBytes.asLongBuffer.get(0, into, at + read, some)
      read += some
    }
  }

  /** The same in one array, valid until the next call. */
  def piece(extent: Extent, from: Int, count: Int): Array[Long] = {
    if (pieceNumbers.length < count) pieceNumbers = new Array[Long](count)
    readNumbers(extent, from, count, pieceNumbers, 0)
    pieceNumbers
  }

  /** Many rows were recalled. */
  def checkMemory(): Unit = recalled()

  def release(extent: Extent): Unit = file.release(extent)

  private def show(position: Long, length: Int): Unit = {
    forget()
    if (window.length < length) window = new Array[Byte](math.max(length, WindowBytes))
    file.read(position, window, length)
    from = position
    until = position + length
  }

  private def forget(): Unit = {
    from = 0L
    until = 0L
    if (window.length > WindowBytes) window = Array.emptyByteArray
  }
}

private object SpilledBytes {

  /** The JVM reads as many bytes without allocating memory of its own. */
  private val WindowBytes = 1 << 13
  private val PieceBytes = WindowBytes
}
