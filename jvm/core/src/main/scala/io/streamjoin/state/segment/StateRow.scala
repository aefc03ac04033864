package io.streamjoin.state.segment

import io.streamjoin.state.BufferedRow
import io.streamjoin.state.segment.pages.{RowBytes, RowCodec}

/** A buffered row in its place in a segment: its numbers and bytes are read on demand. */
abstract class StateRow[R] private[segment] (codec: RowCodec[R]) extends BufferedRow[R] {
  private[segment] def segment: Segment
  private[segment] def at: Int

  override def row: R = segment.bytes.read(segment.place(at), codec)
  override def key: Long = segment.key(at)
  override def time: Long = segment.time(at)
  override def matched: Boolean = segment.isMatched(at)

  /** The row is evicted when the watermark is above this. */
  def limit(k: Int): Long = segment.limit(at, k)
}

/** A cursor over rows: one object for one row after another. */
private[segment] final class ShownRow[R](codec: RowCodec[R]) extends StateRow[R](codec) {
  private var in: Segment = _
  private var place = -1

  override private[segment] def segment: Segment = in
  override private[segment] def at: Int = place

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
