package io.streamjoin.state.segment

/** Counting sort of the live rows of a segment by the chunk of their bytes. */
private[segment] object ChunkOrder {

  /** @param live how many rows have not been deleted */
  def of(rows: RowPages, live: Int, chunkCount: Int): Array[Int] = {
    val next = new Array[Int](chunkCount + 1)
    foreachLive(rows)(i => next(RowBytes.chunkNumber(rows.place(i)) + 1) += 1)
    for (c <- 1 until next.length) next(c) += next(c - 1)
    val ordered = new Array[Int](live)
    foreachLive(rows) { i =>
      val c = RowBytes.chunkNumber(rows.place(i))
      ordered(next(c)) = i
      next(c) += 1
    }
    ordered
  }

  private def foreachLive(rows: RowPages)(visit: Int => Unit): Unit =
    for (i <- 0 until rows.length if !rows.isDeleted(i)) visit(i)
}
