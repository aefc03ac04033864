package io.streamjoin.state.segment

/** A row of a segment in its place: its numbers and bytes are read on demand. */
private[segment] abstract class PlacedRow[R](codec: RowCodec[R]) extends StateRow[R] {
  protected def segment: Segment
  protected def at: Int

  override def row: R = segment.bytes.read(segment.place(at), codec)
  override def key: Long = segment.key(at)
  override def time: Long = segment.time(at)
  override def limit(k: Int): Long = segment.limit(at, k)
  override def matched: Boolean = segment.isMatched(at)
}

/** A cursor over rows: one object for one row after another. */
private[segment] final class ShownRow[R](codec: RowCodec[R]) extends PlacedRow[R](codec) {
  private var in: Segment = _
  private var place = -1

  override protected def segment: Segment = in
  override protected def at: Int = place

  def id: Long = in.id(place)

  /** The bytes of the row. */
  def size: Int = RowBytes.size(in.place(place))

  def show(segment: Segment, at: Int): this.type = {
    segment.show(at)
    in = segment
    place = at
    this
  }
}

/** All live rows of some segments, by one cursor. */
private[segment] final class SegmentRows[R](segments: Iterator[Segment], shown: ShownRow[R])
    extends Iterator[StateRow[R]] {
  private var segment: Segment = _
  private var i = 0

  override def hasNext: Boolean = {
    skipDeleted()
    while ((segment == null || i == segment.length) && segments.hasNext) {
      segment = segments.next()
      i = 0
      skipDeleted()
    }
    segment != null && i < segment.length
  }

  private def skipDeleted(): Unit =
    if (segment != null) while (i < segment.length && segment.isDeleted(i)) i += 1

  override def next(): StateRow[R] = {
    if (!hasNext) throw new NoSuchElementException("no more rows of these segments")
    i += 1
    shown.show(segment, i - 1)
  }
}
