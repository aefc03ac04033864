package io.streamjoin.join.eventtime

import io.streamjoin.join.Counters

/**
 * The statistics that one task of a join collects.
 *
 * @param lags of the columns whose watermark is the largest time minus a lag, that lag; disorder is
 *   measured by it, see [[Disorder]]
 * @param load takes in the keys of rows that may match; none: not required
 */
final case class JoinStats(
    counters: Counters,
    lags: Map[Int, Long] = Map.empty,
    load: Option[KeyLoad] = None
)
