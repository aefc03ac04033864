package io.streamjoin.state.segment.pages

import java.io.{File, IOException, RandomAccessFile, UncheckedIOException}

import scala.collection.mutable

/** Adjacent bytes of a [[SpillFile]]. */
private[segment] final case class Extent(position: Long, length: Int)

/**
 * Spill file of one state, on the local disk. It is created by the first write, and unlinked as
 * soon as it is open. So it disappears with the process, however that ends.
 *
 * Each extent takes a power of two of the file. Freed extents are reused by extents of the same
 * size: chunks of rows mostly have such sizes.
 *
 * It is not a channel: Spark interrupts tasks, and an interrupt closes a channel for good.
 *
 * @param create makes a file that nothing else uses; called at most once
 */
private[segment] final class SpillFile(create: () => File) {
  import SpillFile._

  private var file: RandomAccessFile = _
  private var path: File = _
  private var end = 0L
  private var extents = 0
  private val vacant = Array.fill(LargestBits + 1)(mutable.Stack.empty[Long])
  private var hasFailed = false

  /** Its length in bytes. */
  def size: Long = end

  /** Whether something could not be read or written. */
  def failed: Boolean = hasFailed

  def write(bytes: Array[Byte], length: Int): Extent = guarded("written") {
    if (file == null) open()
    val position = place(length)
    file.seek(position)
    file.write(bytes, 0, length)
    Extent(position, length)
  }

  def read(position: Long, into: Array[Byte], length: Int): Unit = guarded("read") {
    file.seek(position)
    file.readFully(into, 0, length)
  }

  /** Its bytes may be written over. */
  def release(extent: Extent): Unit = {
    vacant(bits(extent.length)).push(extent.position)
    extents -= 1
    if (extents == 0) empty()
  }

  def close(): Unit =
    if (file != null) {
      // nothing reads it any more
      try file.close()
      catch { case _: IOException => () }
      path.delete()
      end = 0L
    }

  private def open(): Unit = {
    path = create()
    file = new RandomAccessFile(path, "rw")
    // where an open file cannot be deleted, close does it
    path.delete()
  }

  private def place(length: Int): Long = {
    val k = bits(length)
    extents += 1
    if (vacant(k).nonEmpty) vacant(k).pop()
    else {
      end += 1L << k
      end - (1L << k)
    }
  }

  private def empty(): Unit = {
    vacant.foreach(_.clear())
    end = 0L
    // a file that stays long is overwritten
    try file.setLength(0L)
    catch { case _: IOException => () }
  }

  /** An IOException would look like that of a checkpoint file. */
  private def guarded[T](what: String)(action: => T): T =
    try action
    catch {
      case e: IOException =>
        hasFailed = true
        throw new UncheckedIOException(
          s"rows on the local disk cannot be $what, in ${Option(path).fold("a new file")(_.toString)}: " +
            Option(e.getMessage).getOrElse(e.toString),
          e
        )
    }
}

private object SpillFile {
  private val SmallestBits = 9
  private val LargestBits = 31

  /** The least power of two that is not below a number of bytes. */
  private def bits(length: Int): Int =
    math.max(SmallestBits, 32 - Integer.numberOfLeadingZeros(length - 1))
}
