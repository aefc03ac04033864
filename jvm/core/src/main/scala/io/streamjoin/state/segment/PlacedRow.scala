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
