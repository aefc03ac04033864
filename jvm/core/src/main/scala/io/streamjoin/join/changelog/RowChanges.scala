package io.streamjoin.join.changelog

/** Nets the changes of one row, by what tells it from others. */
private[changelog] trait RowChanges[R] {

  /**
   * Takes what is held of the row out of the state, and tells what of it goes and comes.
   *
   * @param key the join key
   * @param changes those of the row are from `from` on, until `until`; their order may be changed
   * @param into of the side that the row is of
   * @return how many changes were counted as something else than void
   */
  def net(key: Long, changes: ChangeBuffer[R], from: Int, until: Int, into: KeyDelta[R]): Int
}
