package org.apache.spark.sql.streamjoin.logical.resolve.shared

import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException

/**
 * The reason why a join cannot be this project's. The caller decides what follows: an error,
 * another attempt when more of the query is resolved, or Spark's own join.
 *
 * @param error the error for the user
 * @param awaitsBound whether it is an inner join that only lacks a bound, which WHERE may still add
 * @param ofBelow whether a join of Spark's below is refused, rather than the join itself
 */
private[streamjoin] final case class Refusal(
    error: StreamJoinAnalysisException,
    awaitsBound: Boolean = false,
    ofBelow: Boolean = false
)
