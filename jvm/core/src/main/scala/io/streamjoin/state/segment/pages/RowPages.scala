package io.streamjoin.state.segment.pages

import java.util.{Arrays, BitSet}

/**
 * One of the chains of a row.
 *
 * @param shift position of the number of the older row, plus one, in the link
 * @param off flag of a row that is in no such chain
 */
private[segment] final class ChainKind(val shift: Int, val off: Long)

private[segment] object ChainKind {

  /** Bits of the number of a row. */
  val Bits = 29
  val Mask: Int = (1 << Bits) - 1

  val OfKey = new ChainKind(shift = 64 - Bits, off = 8L)
  val OfTime = new ChainKind(shift = 64 - 2 * Bits, off = 16L)
  val all: Seq[ChainKind] = Seq(OfKey, OfTime)
}

/**
 * Numbers of the rows of a segment. All numbers of a row are adjacent, for a probe reads rows
 * in no order of memory. Pages keep arrays below the size that the garbage collector treats as
 * large. Either all pages of a segment are in memory or all are on the local disk. While they
 * are on the disk, the flags of a row (joined, deleted) can be read and changed. Everything
 * else can be read only after [[show]], and changed only after [[recallPages]].
 *
 * {{{
 *   row i    key, time, link, place, id, limits... and watched numbers
 *   link     older row of its key, older row of its key and time, flags
 * }}}
 */
private[segment] abstract class RowPages(numberCount: Int, disk: SpilledBytes)
    extends RowWindow.Pages {
  import RowPages._
  import RowWindow.{PageRows, PageShift}

  override final val width: Int = FirstLimit + numberCount
  private var pages = new Array[Array[Long]](1)

  /** The pages on the disk; null while they are in memory. */
  private var spilled: SpilledPages = _

  /** No row has this number or a greater one. */
  def length: Int

  final def key(i: Int): Long = page(i)(start(i) + Key)
  final def time(i: Int): Long = page(i)(start(i) + Time)
  final def place(i: Int): Long = page(i)(start(i) + Place)
  final def id(i: Int): Long = page(i)(start(i) + Id)
  final def limit(i: Int, k: Int): Long = page(i)(start(i) + FirstLimit + k)

  final def isMatched(i: Int): Boolean =
    if (areSpilled) spilled.matched.get(i) else has(i, Matched)

  /** Whether the row was removed or evicted, and its number is not reused. */
  final def isDeleted(i: Int): Boolean =
    if (areSpilled) spilled.deleted.get(i) else has(i, Deleted)

  /** Whether the row, which is in memory, is live and has this key and a time in this range. */
  final def isHit(i: Int, key: Long, from: Long, to: Long): Boolean = {
    val rows = page(i)
    val at = start(i)
    val time = rows(at + Time)
    // the numbers are in one cache line: comparing all is cheaper than a wrong branch
    rows(at + Key) == key & time >= from & time <= to & (rows(at + Link) & Deleted) == 0
  }

  final def setId(i: Int, id: Long): Unit = page(i)(start(i) + Id) = id

  final def setPlace(i: Int, place: Long): Unit = page(i)(start(i) + Place) = place

  final def setMatched(i: Int, matched: Boolean): Unit =
    if (areSpilled) spilled.matched.set(i, matched) else setFlag(i, Matched, matched)

  protected final def setDeletedFlag(i: Int, deleted: Boolean): Unit =
    if (areSpilled) spilled.deleted.set(i, deleted) else setFlag(i, Deleted, deleted)

  /** The next older row of a chain, as its number plus one; 0 where there is none. */
  final def older(i: Int, kind: ChainKind): Int =
    (link(i) >>> kind.shift).toInt & ChainKind.Mask

  final def setOlder(i: Int, kind: ChainKind, older: Int): Unit =
    setLink(i, link(i) & ~(ChainKind.Mask.toLong << kind.shift) | older.toLong << kind.shift)

  final def isOff(i: Int, kind: ChainKind): Boolean = has(i, kind.off)

  /** The row, which was deleted, is in no such chain any more. */
  def setOff(i: Int, kind: ChainKind): Unit

  protected final def has(i: Int, flag: Long): Boolean = (link(i) & flag) != 0

  protected final def setFlag(i: Int, flag: Long, on: Boolean): Unit =
    setLink(i, if (on) link(i) | flag else link(i) & ~flag)

  protected final def link(i: Int): Long = page(i)(start(i) + Link)

  protected final def setLink(i: Int, link: Long): Unit = page(i)(start(i) + Link) = link

  /** Writes a row, which is in no chain yet. */
  protected final def put(
      i: Int,
      key: Long,
      time: Long,
      flags: Long,
      place: Long,
      id: Long,
      limits: Array[Long]
  ): Unit = {
    makeRoom(i >>> PageShift, i)
    val rows = page(i)
    val at = start(i)
    rows(at + Key) = key
    rows(at + Time) = time
    rows(at + Link) = flags
    rows(at + Place) = place
    rows(at + Id) = id
    var k = 0
    while (k < numberCount) {
      rows(at + FirstLimit + k) = limits(k)
      k += 1
    }
  }

  protected final def pagesAllocated: Long =
    pages.iterator.filter(_ != null).map(_.length * 8L).sum +
      (if (areSpilled) spilled.allocated else 0L)

  // ---- on the disk ----

  /** Whether the pages are on the disk. */
  final def areSpilled: Boolean = spilled != null

  /** Spills the pages. */
  protected final def spillPages(): Unit = {
    val known = new SpilledPages(pages.takeWhile(_ != null).map(disk.write))
    for (i <- 0 until length) {
      known.matched.set(i, isMatched(i))
      known.deleted.set(i, isDeleted(i))
    }
    spilled = known
    pages = new Array[Array[Long]](pages.length)
  }

  /** Recalls the pages, with the flags that were changed since. */
  protected final def recallPages(): Unit = {
    disk.rows.leave(this)
    val known = spilled
    for (p <- known.extents.indices) pages(p) = disk.readNumbers(known.extents(p))
    releasePages()
    for (i <- 0 until length) {
      setFlag(i, Matched, known.matched.get(i))
      setFlag(i, Deleted, known.deleted.get(i))
    }
  }

  /** Makes a row readable until the next call for any segment of the side. */
  final def show(i: Int): Unit = if (areSpilled) disk.rows.show(this, i)

  override final def extentOf(i: Int): Extent = spilled.extents(i >>> PageShift)

  override final def showPage(i: Int, numbers: Array[Long]): Unit = pages(i >>> PageShift) = numbers

  /** The bytes that a recall reads. */
  protected final def pagesSpilled: Long = spilled.extents.length.toLong * PageRows * width * 8L

  /** Frees the extents of the disk. */
  protected final def releasePages(): Unit = if (areSpilled) {
    disk.rows.leave(this)
    spilled.extents.foreach(disk.release)
    spilled = null
  }

  private def page(i: Int): Array[Long] = pages(i >>> PageShift)
  private def start(i: Int): Int = (i & PageRows - 1) * width

  /** The first page grows, for many segments have few rows. */
  private def makeRoom(p: Int, i: Int): Unit = {
    if (p >= pages.length) pages = Arrays.copyOf(pages, math.max(p + 1, pages.length * 2))
    if (pages(p) == null) pages(p) = new Array[Long]((if (p == 0) FewestRows else PageRows) * width)
    else if (p == 0 && start(i) >= pages(0).length) {
      pages(0) = Arrays.copyOf(pages(0), pages(0).length * 2)
    }
  }
}

private[segment] object RowPages {
  private val FewestRows = 16

  // where in a row
  private val Key = 0
  private val Time = 1
  private val Link = 2
  private val Place = 3
  private val Id = 4
  private val FirstLimit = 5

  // of the link
  val Matched = 1L
  val Deleted = 2L

  /** The row was appended since the last version was sealed, at a reused number. */
  val Reused = 4L

  /** An extent, and the reference to it. */
  private val BytesOfExtent = 32L

  /**
   * In-memory part of pages on the local disk.
   *
   * @param extents of each page
   */
  private final class SpilledPages(val extents: Array[Extent]) {

    /** The rows that have been joined. */
    val matched: BitSet = new BitSet

    /** The rows that were removed or evicted. */
    val deleted: BitSet = new BitSet

    /** Bytes in memory. */
    def allocated: Long = extents.length * BytesOfExtent + (matched.size + deleted.size) / 8
  }
}
