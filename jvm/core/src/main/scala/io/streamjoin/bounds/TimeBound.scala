package io.streamjoin.bounds

/**
 * The canonical form of a time bound: `column(later) >= column(earlier) - slack`.
 *
 * The columns are numbers in a [[JoinBounds]]; the slack is in the unit of the columns
 * (microseconds, days, or plain numbers) and may be negative. The Hazelcast document calls it the
 * postpone time.
 */
final case class TimeBound(later: Int, earlier: Int, slack: Long)
