package io.streamjoin.state.segment

/**
 * In-memory part of pages of rows on the local disk: their extents, the flags of rows, and the
 * least of each number of a page.
 *
 * @param extents of each page
 * @param pageRows how many rows a page has, a multiple of 64
 * @param numberCount how many numbers a row has of which the least is required
 */
private[segment] final class SpilledPages(
    extents: Array[Extent],
    pageRows: Int,
    numberCount: Int
) {
  import SpilledPages._

  private val matched = new Array[Array[Long]](extents.length)
  private val deleted = new Array[Array[Long]](extents.length)
  private val leasts = Array.fill(extents.length * numberCount)(Long.MaxValue)
  private val stale = new Array[Boolean](extents.length)

  def pageCount: Int = extents.length

  def extent(page: Int): Extent = extents(page)

  def isMatched(i: Int): Boolean = has(matched, i)
  def setMatched(i: Int, on: Boolean): Unit = set(matched, i, on)

  def isDeleted(i: Int): Boolean = has(deleted, i)
  def setDeleted(i: Int, on: Boolean): Unit = set(deleted, i, on)

  private def has(flags: Array[Array[Long]], i: Int): Boolean = {
    val ofPage = flags(i / pageRows)
    ofPage != null && (ofPage(i % pageRows >>> 6) >>> i & 1L) != 0
  }

  private def set(flags: Array[Array[Long]], i: Int, on: Boolean): Unit = {
    val page = i / pageRows
    if (flags(page) == null) flags(page) = new Array[Long](pageRows >>> 6)
    val word = i % pageRows >>> 6
    if (on) flags(page)(word) |= 1L << i else flags(page)(word) &= ~(1L << i)
  }

  /** No number `k` of the live rows of a page is lower, unless it [[isStale]]. */
  def least(page: Int, k: Int): Long = leasts(page * numberCount + k)

  /** A row of the page has this number. */
  def lower(page: Int, k: Int, number: Long): Unit =
    leasts(page * numberCount + k) = math.min(least(page, k), number)

  /** Whether the least numbers of a page must be read again. */
  def isStale(page: Int): Boolean = stale(page)

  /** Rows of the page were deleted, or are live again. */
  def setStale(page: Int): Unit = stale(page) = true

  /** The least numbers of a page are about to be reported by [[lower]]. */
  def renew(page: Int): Unit = {
    stale(page) = false
    for (k <- 0 until numberCount) leasts(page * numberCount + k) = Long.MaxValue
  }

  /** Bytes in memory. */
  def allocated: Long =
    extents.length * BytesOfPage + leasts.length * 8L + allocated(matched) + allocated(deleted)

  private def allocated(flags: Array[Array[Long]]): Long =
    flags.count(_ != null) * ((pageRows >>> 3) + BytesOfArray)
}

private object SpilledPages {
  private val BytesOfArray = 16L

  /** An extent, and the references to it and to the flags. */
  private val BytesOfPage = 41L
}
