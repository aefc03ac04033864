package io.streamjoin.join.changelog

import io.streamjoin.model.Side

/**
 * Makes output rows, with the columns that are asked for. Each outlives the call.
 *
 * @tparam R a row of either input
 * @tparam O a row of the output
 */
trait ChangelogOutput[R, O] extends RowIdentity[O] {

  /** None: nobody wants the row. */
  def joined(left: R, right: R): Option[O]

  /** A row of `side` by itself; padded with nulls where the join type has other columns. None: nobody wants it. */
  def alone(side: Side, row: R): Option[O]
}
