package io.streamjoin.bounds

import io.streamjoin.model.Side

/**
 * A time value that every row of one input has: an event-time column, or any expression of one row
 * that the condition compares with a time of the other input (`a.expires`, `o.time + o.deadline`).
 *
 * @param side the input it belongs to
 * @param name how the person calls it
 * @param watermarked whether a watermark speaks of its values still to come
 * @param nullable whether a row may lack it
 * @param padded whether a join below puts NULL in its place in rows without a match
 */
final case class TimeColumn(
    side: Side,
    name: String,
    watermarked: Boolean,
    nullable: Boolean,
    padded: Boolean = false
)
