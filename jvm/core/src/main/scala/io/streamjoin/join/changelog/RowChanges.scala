package io.streamjoin.join.changelog

/** Consolidates the changes of one row, by its identity. */
private[changelog] trait RowChanges[R] {

  /**
   * Removes the stored row from the state, and adds its deletes and inserts to the delta.
   *
   * @param key the join key
   * @param changes those of the row are from `from` to `until`, in the order of [[NetChanges]]
   * @param into the delta of the side of the row
   * @return how many changes were counted as something else than void
   */
  def net(key: Long, changes: ChangeBuffer[R], from: Int, until: Int, into: KeyDelta[R]): Int
}
