package io.streamjoin.join.changelog

/**
 * How rows of an output are told apart. Rows that are equal in all columns that are asked for are equal as
 * objects.
 *
 * @tparam O a row of the output
 */
trait RowIdentity[O] {

  /** By what a row is told from the others, for `equals`; none where the output has no key. */
  def key(row: O): Option[AnyRef]

  /** Whether two rows have one key, and of each kind no other has it; false where the output has none. */
  def sameKey(a: O, b: O): Boolean
}
