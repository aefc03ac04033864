package io.streamjoin.core

/**
 * Makes output rows.
 *
 * @tparam R a row of either input
 * @tparam O a row of the output
 */
trait JoinOutput[R, O] {

  def joined(left: R, right: R): O

  /** A row of `side` without a match; padded with nulls where the join type has other columns. */
  def unmatched(side: Side, row: R): O

  /** A left row that has a match (semi join). */
  def matched(left: R): O
}
