package io.streamjoin.state.segment

/** A row of a segment in its place: its numbers and bytes are read when asked for. */
private[segment] abstract class PlacedRow[R](codec: RowCodec[R]) extends HeldRow[R] {
  protected def segment: Segment
  protected def at: Int

  override def row: R = segment.bytes.read(segment.place(at), codec)
  override def key: Long = segment.key(at)
  override def time: Long = segment.time(at)
  override def limit(k: Int): Long = segment.limit(at, k)
  override def matched: Boolean = segment.isMatched(at)
}

/** One object that shows one row after another. */
private[segment] final class ShownRow[R](codec: RowCodec[R]) extends PlacedRow[R](codec) {
  private var in: Segment = _
  private var place = -1

  override protected def segment: Segment = in
  override protected def at: Int = place

  def id: Long = in.id(place)

  def show(segment: Segment, at: Int): this.type = {
    segment.show(at)
    in = segment
    place = at
    this
  }
}

/** All live rows of some segments, shown by one object. */
private[segment] final class SegmentRows[R](segments: Iterator[Segment], shown: ShownRow[R])
    extends Iterator[HeldRow[R]] {
  private var segment: Segment = _
  private var i = 0

  override def hasNext: Boolean = {
    skipGone()
    while ((segment == null || i == segment.length) && segments.hasNext) {
      segment = segments.next()
      i = 0
      skipGone()
    }
    segment != null && i < segment.length
  }

  private def skipGone(): Unit =
    if (segment != null) while (i < segment.length && segment.isGone(i)) i += 1

  override def next(): HeldRow[R] = {
    if (!hasNext) throw new NoSuchElementException("no more rows of these segments")
    i += 1
    shown.show(segment, i - 1)
  }
}
