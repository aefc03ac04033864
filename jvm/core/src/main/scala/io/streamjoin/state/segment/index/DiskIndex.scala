package io.streamjoin.state.segment.index

import java.util.Arrays
import java.util.function.IntConsumer

import io.streamjoin.state.segment.pages.{Extent, SlotPages, SpilledBytes}

/**
 * Index of rows on the local disk: entries in the order of hash and time. In memory are the
 * first entry of each piece and a filter of the hashes.
 *
 * {{{
 *   in memory     filter          first hash and time of each piece
 *   on the disk                   piece: hash, row, time; hash, row, time; ...
 * }}}
 *
 * A search reads one piece, rarely two. A search for an absent hash mostly reads none. Rows
 * keep their numbers, and deleted rows stay in the index.
 */
private[segment] final class DiskIndex private (
    entries: Int,
    extents: Array[Extent],
    firstHash: Array[Int],
    firstTime: Array[Long],
    filter: HashFilter,
    disk: SpilledBytes
) {
  import DiskIndex._

  /** Whether there may be a row of a key with this hash. */
  def mayContain(hash: Int): Boolean = filter.mayContain(hash)

  /**
   * Visits the rows with this hash and a time in this range, in the order of times.
   *
   * @return how many pieces were read
   */
  def find(hash: Int, from: Long, to: Long)(visit: IntConsumer): Int = {
    val first = pieceBefore(hash, from)
    var piece = first
    while (piece < firstHash.length && mayReach(piece, hash, from, to)) {
      show(piece, hash, from, to, visit)
      piece += 1
    }
    piece - first
  }

  private def show(piece: Int, hash: Int, from: Long, to: Long, visit: IntConsumer): Unit = {
    val numbers = disk.piece(
      extents(piece / ExtentPieces),
      piece % ExtentPieces * PieceNumbers,
      math.min(PieceEntries, entries - piece * PieceEntries) * 2
    )
    val end = math.min(PieceEntries, entries - piece * PieceEntries)
    var (low, high) = (0, end)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (isBefore(hashOf(numbers(2 * middle)), numbers(2 * middle + 1), hash, from))
        low = middle + 1
      else high = middle
    }
    while (low < end && hashOf(numbers(2 * low)) == hash && numbers(2 * low + 1) <= to) {
      visit.accept(numbers(2 * low).toInt)
      low += 1
    }
  }

  /** The last piece that begins before the first entry of a hash and a time, or the first of all. */
  private def pieceBefore(hash: Int, from: Long): Int = {
    var (low, high) = (0, firstHash.length)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (isBefore(firstHash(middle), firstTime(middle), hash, from)) low = middle + 1
      else high = middle
    }
    math.max(0, low - 1)
  }

  private def mayReach(piece: Int, hash: Int, from: Long, to: Long): Boolean =
    isBefore(firstHash(piece), firstTime(piece), hash, from) ||
      firstHash(piece) == hash && firstTime(piece) <= to

  /** Bytes in memory. */
  def allocated: Long = filter.allocated + firstHash.length * 12L + extents.length * BytesOfExtent

  /** Frees the extents of the disk. */
  def release(): Unit = extents.foreach(disk.release)
}

private[segment] object DiskIndex {
  private val PieceEntries = 256
  private val PieceNumbers = PieceEntries * 2
  private val ExtentPieces = 64
  private val ExtentNumbers = ExtentPieces * PieceNumbers
  private val BytesOfExtent = 32L

  /** So many rows are sorted by insertion. */
  private val FewRows = 64

  /**
   * Writes the index.
   *
   * @param count the rows are those with lower numbers
   * @param isIn whether a row belongs to the index
   */
  def of(
      count: Int,
      isIn: Int => Boolean,
      key: Int => Long,
      time: Int => Long,
      disk: SpilledBytes
  ): DiskIndex = {
    val order = inOrder(count, isIn, key, time)
    val pieces = (order.length + PieceEntries - 1) / PieceEntries
    val (firstHash, firstTime) = (new Array[Int](pieces), new Array[Long](pieces))
    val filter = new HashFilter(order.length)
    val extents = Array.newBuilder[Extent]
    for (begin <- order.indices by ExtentPieces * PieceEntries) {
      val end = math.min(order.length, begin + ExtentPieces * PieceEntries)
      val numbers = new Array[Long](math.min(ExtentNumbers, (end - begin) * 2))
      for (e <- begin until end) {
        val at = time(order(e).toInt)
        if (e % PieceEntries == 0) {
          firstHash(e / PieceEntries) = hashOf(order(e))
          firstTime(e / PieceEntries) = at
        }
        filter.add(hashOf(order(e)))
        numbers(2 * (e - begin)) = order(e)
        numbers(2 * (e - begin) + 1) = at
      }
      extents += disk.write(numbers)
    }
    new DiskIndex(order.length, extents.result(), firstHash, firstTime, filter, disk)
  }

  /** The rows with their hashes, in the order of hashes and, of one hash, of times. */
  private def inOrder(
      count: Int,
      isIn: Int => Boolean,
      key: Int => Long,
      time: Int => Long
  ): Array[Long] = {
    var order = new Array[Long](count)
    var entries = 0
    var i = 0
    while (i < count) {
      if (isIn(i)) {
        order(entries) = SlotPages.hash(key(i)).toLong << 32 | i
        entries += 1
      }
      i += 1
    }
    if (entries < count) order = Arrays.copyOf(order, entries)
    Arrays.sort(order)
    var begin = 0
    while (begin < entries) {
      var end = begin + 1
      while (end < entries && hashOf(order(end)) == hashOf(order(begin))) end += 1
      sortByTime(order, begin, end, time)
      begin = end
    }
    order
  }

  /** Sorts rows of one hash. They mostly arrive in the order of their times, or almost. */
  private def sortByTime(order: Array[Long], begin: Int, end: Int, time: Int => Long): Unit =
    if (end - begin > FewRows) {
      def timeAt(e: Int) = time(order(e).toInt)
      if ((begin + 1 until end).exists(e => timeAt(e - 1) > timeAt(e))) {
        val sorted = order.slice(begin, end).sortBy(entry => time(entry.toInt))
        System.arraycopy(sorted, 0, order, begin, sorted.length)
      }
    } else {
      var next = begin + 1
      while (next < end) {
        val entry = order(next)
        val at = time(entry.toInt)
        var to = next
        while (to > begin && time(order(to - 1).toInt) > at) {
          order(to) = order(to - 1)
          to -= 1
        }
        order(to) = entry
        next += 1
      }
    }

  private def hashOf(entry: Long): Int = (entry >>> 32).toInt

  private def isBefore(hash: Int, time: Long, thanHash: Int, thanTime: Long): Boolean =
    hash < thanHash || hash == thanHash && time < thanTime
}
