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
 * @param multipleOf the time of which it is a multiple, as milliseconds are of seconds
 */
final case class TimeColumn(
    side: Side,
    name: String,
    watermarked: Boolean,
    nullable: Boolean,
    padded: Boolean = false,
    multipleOf: Option[Multiple] = None
)

/**
 * A multiple of a column of the same input, in a unit in which it is compared with times of the other:
 * `o.seconds * 1000` with `d.milliseconds`. It says of the column what is known of the multiple, and has
 * no watermark but the column's.
 *
 * @param factor more than 1
 */
final case class Multiple(column: Int, factor: Long)
