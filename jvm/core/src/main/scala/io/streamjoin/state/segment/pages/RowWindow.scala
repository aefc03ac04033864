package io.streamjoin.state.segment.pages

/**
 * Window on the rows of one side that are on the local disk: a few adjacent rows at their place
 * in a page.
 *
 * @param read reads numbers of an extent, from an offset, into an array, from a place of it;
 *   the third argument is how many
 */
private[segment] final class RowWindow(read: (Extent, Int, Int, Array[Long], Int) => Unit) {
  import RowWindow._

  private var numbers = Array.emptyLongArray
  private var owner: Pages = _
  private var piece = -1

  /** Makes a row readable. */
  def show(rows: Pages, i: Int): Unit =
    if ((owner ne rows) || piece != i / PieceRows) {
      leave()
      val width = rows.width
      val inPage = i % PageRows / PieceRows * PieceRows * width
      if (numbers.length < PageRows * width) numbers = new Array[Long](PageRows * width)
      val extent = rows.extentOf(i)
      val count = math.min(PieceRows * width, extent.length / 8 - inPage)
      read(extent, inPage, count, numbers, inPage)
      rows.showPage(i, numbers)
      owner = rows
      piece = i / PieceRows
    }

  /** The window no longer has these rows. */
  def leave(rows: Pages): Unit = if (owner eq rows) leave()

  private def leave(): Unit = if (owner != null) {
    owner.showPage(piece * PieceRows, null)
    owner = null
  }
}

private[segment] object RowWindow {

  /** Rows in pages on the disk. */
  trait Pages {

    /** How many numbers a row has, all in all. */
    def width: Int

    /** The extent of the page of a row. */
    def extentOf(i: Int): Extent

    /** Sets the numbers of the page of a row; null: none. */
    def showPage(i: Int, numbers: Array[Long]): Unit
  }

  final val PageShift = 10
  final val PageRows = 1 << PageShift

  /** Rows that are read at a time: 3 KiB with one limit. */
  private val PieceRows = 64
}
