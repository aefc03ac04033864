package io.streamjoin.join.changelog

import io.streamjoin.model.Side

/**
 * Factory of output rows, with the required columns. Each outlives the call.
 *
 * @tparam R a row of either input
 * @tparam O a row of the output
 */
trait ChangelogOutput[R, O] extends RowIdentity[O] {

  /** A pair; none if it is not required. */
  def joined(left: R, right: R): Option[O]

  /**
   * A row of `side` alone, padded with nulls for the columns of the other side; none if it is
   * not required.
   */
  def alone(side: Side, row: R): Option[O]
}
