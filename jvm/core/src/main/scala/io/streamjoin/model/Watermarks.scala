package io.streamjoin.model

/** Facts about single watermarks; a watermark is a `Long` in the unit of its column. */
object Watermarks {

  /** No watermark has been received yet: nothing is late, nothing can be freed. */
  val Unknown: Long = Long.MinValue
}
