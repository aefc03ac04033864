package io.streamjoin.state.segment

/**
 * The rows of one side that are shown while they lie on the local disk: a few that lie together, in the place that they
 * have in a page, until others are.
 *
 * @param read some numbers of an extent, from one of them on, into an array, from one place of it on: how many is the
 *   third argument
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
      val width = rows.rowNumbers
      val inPage = i % rows.pageRows / PieceRows * PieceRows * width
      if (numbers.length < rows.pageRows * width)
        numbers = new Array[Long](rows.pageRows * width)
      val extent = rows.extentOf(i)
      val count = math.min(PieceRows * width, extent.length / 8 - inPage)
      read(extent, inPage, count, numbers, inPage)
      rows.showPage(i, numbers)
      owner = rows
      piece = i / PieceRows
    }

  /** The rows are not to be shown any more. */
  def leave(rows: Pages): Unit = if (owner eq rows) leave()

  private def leave(): Unit = if (owner != null) {
    owner.showPage(piece * PieceRows, null)
    owner = null
  }
}

private[segment] object RowWindow {

  /** Rows in pages that lie on the disk. */
  trait Pages {

    /** How many rows a page has. */
    def pageRows: Int

    /** Of how many numbers a row consists. */
    def rowNumbers: Int

    /** Where on the disk the page of a row is. */
    def extentOf(i: Int): Extent

    /** What the window has of the page of a row; null: nothing. */
    def showPage(i: Int, numbers: Array[Long]): Unit
  }

  /** What is read at a time: of a row of one limit 3 KiB. */
  private val PieceRows = 64
}
