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

  /** Whether the key of a side identifies the rows of the output. */
  def identifiedBy(side: Side): Boolean

  /**
   * A row by whose key the result of a row is deleted: padded, and without regard to filters. The
   * output is to be identified by the side.
   */
  def ofKey(side: Side, row: R): O
}

/**
 * Identity of the rows of an output. Rows that are equal in all required columns are equal as
 * objects.
 *
 * @tparam O a row of the output
 */
trait RowIdentity[O] {

  /** The key of a row, for `equals`; none if the output has no key. */
  def key(row: O): Option[AnyRef]

  /**
   * Whether two rows have one key that no other row of their kind has; false if the output has
   * none.
   */
  def sameKey(a: O, b: O): Boolean
}
