package io.streamjoin.state.segment

/**
 * The rows of one side that are shown while they lie on the local disk: a few that lie together, in the place that they
 * have in a page, until others are.
 */
private[segment] final class RowWindow(disk: SpilledBytes) {
  import RowWindow._

  private var numbers = Array.emptyLongArray
  private var owner: RowPages = _
  private var piece = -1

  /** Makes a row readable. */
  def show(rows: RowPages, i: Int): Unit =
    if ((owner ne rows) || piece != i / PieceRows) {
      leave()
      val width = rows.rowNumbers
      val inPage = i % RowPages.PageRows / PieceRows * PieceRows * width
      if (numbers.length < RowPages.PageRows * width)
        numbers = new Array[Long](RowPages.PageRows * width)
      val extent = rows.extentOf(i)
      val count = math.min(PieceRows * width, extent.length / 8 - inPage)
      disk.readNumbers(extent, inPage, count, numbers, inPage)
      rows.showPage(i, numbers)
      owner = rows
      piece = i / PieceRows
    }

  /** The rows are not to be shown any more. */
  def leave(rows: RowPages): Unit = if (owner eq rows) leave()

  private def leave(): Unit = if (owner != null) {
    owner.showPage(piece * PieceRows, null)
    owner = null
  }
}

private object RowWindow {

  /** What is read at a time: of a row of one limit 3 KiB. */
  private val PieceRows = 64
}
