package io.streamjoin.state.segment

/** What a segment does with rows that arrive. */
private[segment] sealed trait SegmentStage

private[segment] object SegmentStage {

  /** It takes rows. */
  case object Open extends SegmentStage

  /** It takes no more rows; its rows are probed and evicted. */
  case object Closed extends SegmentStage

  /** Nothing of it is read any more. */
  case object Released extends SegmentStage
}
