package io.streamjoin.state.segment

/**
 * Order in which segments are spilled when memory is short. It is called between two versions,
 * when nothing can be undone.
 *
 * {{{
 *   1. bytes of rows      of every segment, latest limits first: early ones are evicted soon
 *   2. numbers and index  of idle segments, latest limits first
 *   3. numbers and index  of the largest segments that can be searched on the disk, in use or not
 * }}}
 *
 * The third step takes one large segment rather than a part of all, for each spilled segment
 * costs searches.
 *
 * @param sides the segments of each side
 */
private[segment] final class SpillPolicy(sides: Seq[SegmentList]) {

  /** Moves bytes of rows until so much memory is free; each side frees its share. */
  def spillRows(wanted: Long): Unit = {
    val all = sides.map(_.rowBytes).sum
    for (side <- sides if all > 0)
      spillRows(side, math.ceil(wanted.toDouble * side.rowBytes / all).toLong)
  }

  private def spillRows(side: SegmentList, wanted: Long): Unit = {
    var freed = 0L
    for (segment <- side.latestFirst if freed < wanted) freed += segment.spill(wanted - freed)
  }

  /** Moves numbers of rows, with their index, until so much memory is free or no segment is left for it. */
  def spillNumbers(wanted: Long): Unit = {
    var left = wanted
    for (side <- sides if left > 0; segment <- side.latestFirst if left > 0 && segment.isIdle)
      left -= spillNumbers(side, segment)
    var next = largestIf(left > 0)
    while (next.nonEmpty) {
      for ((side, segment) <- next) left -= spillNumbers(side, segment)
      next = largestIf(left > 0)
    }
  }

  private def largestIf(needed: Boolean): Option[(SegmentList, Segment)] =
    (for {
      side <- sides.iterator if needed
      segment <- side.all if segment.canBeSearched && segment.numberBytes > 0
    } yield side -> segment).maxByOption(_._2.numberBytes)

  private def spillNumbers(side: SegmentList, segment: Segment): Long = {
    val freed = segment.spillNumbers()
    if (segment.isSearched && !segment.isClosed) side.close(segment)
    freed
  }
}
