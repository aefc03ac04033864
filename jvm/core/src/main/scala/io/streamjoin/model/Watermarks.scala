package io.streamjoin.model

import io.streamjoin.bounds.JoinBounds

/** Facts about single watermarks; a watermark is a `Long` in the unit of its column. */
object Watermarks {

  /** No watermark has been received yet: nothing is late, nothing can be freed. */
  val Unknown: Long = JoinBounds.Unknown
}
