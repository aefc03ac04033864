package io.streamjoin.bounds

import io.streamjoin.model.Side

/**
 * Time column of one input: an event-time column, or an expression of one row that the
 * condition compares with a time of the other input (`a.expires`, `o.time + o.deadline`).
 *
 * @param side the input it belongs to
 * @param name the display name
 * @param watermarked whether a watermark bounds its later values
 * @param nullable whether a row may lack it
 * @param padded whether a join below pads it with NULL in rows without a match
 */
final case class TimeColumn(
    side: Side,
    name: String,
    watermarked: Boolean,
    nullable: Boolean,
    padded: Boolean = false
)
