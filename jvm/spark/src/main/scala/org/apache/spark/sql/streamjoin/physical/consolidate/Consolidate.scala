package org.apache.spark.sql.streamjoin.physical.consolidate

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.streamjoin.physical.stateful.JoinDistribution

/**
 * How the changes of one batch are consolidated: the result has what the batch inserts and does not
 * delete, and what it deletes and does not insert.
 *
 * {{{
 *   changes of a batch                by key id                    by all columns   latest of each id
 *   delete 7 Bob, insert 7 Bob        nothing                      nothing          nothing
 *   delete 7 Bob, insert 7 Ann        an update: both images       as they are      update_postimage 7 Ann
 *   insert 8 Eva                      as it is                     as it is         as it is
 * }}}
 *
 * @param key identifies a row: two images of one key are an update; empty: all columns identify it
 * @param identity the columns in which equal rows cancel
 * @param kind the column with the kind of the change
 * @param within only rows with equal values of these are compared; they are in one partition already.
 *   Empty: rows from all partitions, after an exchange
 */
private[physical] final case class Consolidate(
    key: Seq[Attribute],
    identity: Seq[Attribute],
    kind: Attribute,
    within: Seq[Expression],
    keep: Consolidate.Keep
) {

  /** Rows that are compared have equal hashes of these; empty: all rows are compared. */
  def together: Seq[Expression] =
    if (within.nonEmpty) within
    else JoinDistribution.hashable(if (key.isEmpty) identity else key)
}

private[physical] object Consolidate {

  sealed trait Keep

  /** All changes that are left. */
  case object All extends Keep

  /** Of each key one change: the inserted row, or the deleted one if nothing is inserted. */
  case object Latest extends Keep
}
