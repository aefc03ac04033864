package io.streamjoin.state.segment

/**
 * In-memory part of pages of rows on the local disk: their extents, and the flags of rows.
 *
 * @param extents of each page
 * @param pageRows how many rows a page has, a multiple of 64
 */
private[segment] final class SpilledPages(extents: Array[Extent], pageRows: Int) {
  import SpilledPages._

  private val matched = new Array[Array[Long]](extents.length)
  private val deleted = new Array[Array[Long]](extents.length)

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

  /** Bytes in memory. */
  def allocated: Long =
    extents.length * BytesOfPage + allocated(matched) + allocated(deleted)

  private def allocated(flags: Array[Array[Long]]): Long =
    flags.count(_ != null) * ((pageRows >>> 3) + BytesOfArray)
}

private object SpilledPages {
  private val BytesOfArray = 16L

  /** An extent, and the references to it and to the flags. */
  private val BytesOfPage = 40L
}
