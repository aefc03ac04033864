package org.apache.spark.sql.streamjoin.physical.consolidate

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.streamjoin.physical.stateful.operator.JoinDistribution

/**
 * Rule by which the changes of one batch are consolidated: an insert and a delete of equal rows
 * cancel. A delete and an insert of one key become an update.
 *
 * {{{
 *   changes of a batch           by key id            by all columns   latest of each id
 *   delete 7 Bob, insert 7 Bob   nothing              nothing          nothing
 *   delete 7 Bob, insert 7 Ann   update: both images  unchanged        update_postimage 7 Ann
 *   insert 8 Eva                 unchanged            unchanged        unchanged
 * }}}
 *
 * @param key the columns that identify a row; empty: all columns do, and there are no updates
 * @param identity the columns in which equal rows cancel
 * @param kind the column with the row kind
 * @param within only rows with equal values of these are compared; they are in one partition
 *   already. Empty: rows of all partitions are compared, after an exchange
 * @param keep which of the remaining changes are emitted
 * @param certain whether each deleted row has been emitted. Else the delete of a key may have another
 *   row than the table, so an equal row that is inserted is emitted nevertheless
 */
private[physical] final case class Consolidate(
    key: Seq[Attribute],
    identity: Seq[Attribute],
    kind: Attribute,
    within: Seq[Expression],
    keep: Consolidate.Keep,
    certain: Boolean
) {

  /** Expressions with equal hashes for rows that are compared; empty: all rows are compared. */
  def together: Seq[Expression] =
    if (within.nonEmpty) within
    else JoinDistribution.hashable(if (key.isEmpty) identity else key)
}

private[physical] object Consolidate {

  sealed trait Keep

  /** All remaining changes. */
  case object All extends Keep

  /** One change of each key: the inserted row, or the deleted one if no row is inserted. */
  case object Latest extends Keep
}
