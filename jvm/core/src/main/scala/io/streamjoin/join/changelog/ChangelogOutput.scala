package io.streamjoin.join.changelog

import io.streamjoin.model.Side

/**
 * Makes output rows, with the columns that are asked for. Each outlives the call; rows that are equal in
 * all columns are equal as objects.
 *
 * @tparam R a row of either input
 * @tparam O a row of the output
 */
trait ChangelogOutput[R, O] {

  /** None: nobody wants the row. */
  def joined(left: R, right: R): Option[O]

  /** A row of `side` by itself; padded with nulls where the join type has other columns. None: nobody wants it. */
  def alone(side: Side, row: R): Option[O]

  /** By what an output row is told from the others, for `equals`; none where the output has no key. */
  def key(row: O): Option[AnyRef]

  /** Whether two output rows have one key; false where the output has none. */
  def sameKey(a: O, b: O): Boolean
}
