package org.apache.spark.sql.streamjoin.logical.resolve.shared

import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException

/**
 * Why a join cannot be this project's. Whoever asked for it decides what follows: an error, another
 * try when more of the query is known, or that the join stays Spark's.
 *
 * @param error what the person is told
 * @param awaitsBound whether it is an inner join that only lacks a bound, which WHERE may still bring
 * @param ofBelow whether it is not the join itself, but one of Spark's below it
 */
private[streamjoin] final case class Refusal(
    error: StreamJoinAnalysisException,
    awaitsBound: Boolean = false,
    ofBelow: Boolean = false
)
