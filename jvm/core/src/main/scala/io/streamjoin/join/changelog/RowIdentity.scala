package io.streamjoin.join.changelog

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
