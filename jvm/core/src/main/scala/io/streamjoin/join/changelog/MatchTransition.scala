package io.streamjoin.join.changelog

/**
 * Match-count transition: an unchanged row of which partners were inserted or deleted.
 *
 * @param won how many were inserted; else some were deleted
 * @param counted whether it is known that no partner is unchanged
 */
private[changelog] final class MatchTransition[R](
    val row: R,
    val won: Int,
    val counted: Boolean
) {

  /** The number of its unchanged partners. */
  var stay = 0
}
