package io.streamjoin.join

import io.streamjoin.model.Side

/**
 * Factory of output rows.
 *
 * @tparam R a row of either input
 * @tparam O a row of the output
 */
trait JoinOutput[R, O] {

  def joined(left: R, right: R): O

  /** A row of `side` without a match, padded with nulls for the columns of the other side. */
  def unmatched(side: Side, row: R): O

  /**
   * A late row, if late rows are emitted.
   *
   * @param column the time that is below its watermark
   */
  def late(side: Side, row: R, column: Int, watermark: Long): Option[O] = None

  /** A row that a join below emitted as late, if late rows are emitted. */
  def foundLate(side: Side, row: R): Option[O] = None

  /** A left row that has a match (semi join). */
  def matched(left: R): O
}
