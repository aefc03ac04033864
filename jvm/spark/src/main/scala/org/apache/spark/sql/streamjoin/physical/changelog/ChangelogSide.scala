package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streamjoin.physical.consolidate.PackedUpdate
import org.apache.spark.sql.types.{BooleanType, LongType, StructType}

/**
 * How rows of an input are identified.
 *
 * @param columns the unique key; empty: all columns identify a row, and equal rows are counted
 * @param inferred whether the key follows from a join below, see
 *   [[org.apache.spark.sql.streamjoin.logical.plan.UniqueKey]]
 * @param acceptsNull whether NULL is a key like any other
 * @param oneAJoinKey whether each join key has at most one row
 * @param sequence the column that orders the changes of one key
 * @param sequenceRequired whether the query requires the sequence as a column of the row
 */
private[changelog] final case class SideKey(
    columns: Seq[Attribute],
    inferred: Boolean,
    acceptsNull: Boolean,
    oneAJoinKey: Boolean,
    sequence: Option[Attribute],
    sequenceRequired: Boolean
) {

  /** The same without a key: rows are identified by all columns, with a count. */
  def counting: SideKey = copy(columns = Nil, inferred = false, oneAJoinKey = false)
}

/**
 * When rows of an input leave the state.
 *
 * @param leaves the indices of the event times by which a row is evicted
 * @param ttl the time to live of a row, in microseconds
 * @param ttlTime the index of the event time from which `ttl` counts; none: from the last write
 */
private[changelog] final case class SideExpiry(
    leaves: IndexedSeq[Int],
    ttl: Option[Long],
    ttlTime: Option[Int]
) {

  /** The number of limits of a row: its eviction times, then its age. */
  def limitCount: Int = leaves.length + ttl.size

  /** The time to live, if it counts from the last write. */
  def ttlOfWrite: Option[Long] = ttl.filter(_ => ttlTime.isEmpty)
}

/**
 * One input of a changelog join.
 *
 * @param columns the columns of the input
 * @param added whether a row is inserted, not deleted
 * @param packed the format of updates, if both images are one row
 * @param only the conjuncts of the condition on this input alone
 */
private[changelog] final case class ChangelogSide(
    columns: Seq[Attribute],
    added: Attribute,
    packed: Option[PackedUpdate],
    key: SideKey,
    only: Option[Expression],
    expiry: SideExpiry
) {

  /** The columns of a row that are stored. */
  val kept: Seq[Attribute] = columns.filterNot(_.exprId == added.exprId)

  /** The columns behind the shuffle: with the old image of an update, if updates are packed. */
  val arriving: Seq[Attribute] = columns ++ packed.toSeq.flatMap(_.more)

  /** The same columns of the old image. */
  val replaced: Seq[Attribute] = packed.fold(kept)(_.before(kept))

  /**
   * The stored columns that are compared: they identify a row without a key, and decide whether an
   * update changes the row. A sequence that the query does not require is not compared.
   */
  val image: Seq[Attribute] =
    kept.filterNot(a => !key.sequenceRequired && key.sequence.exists(_.exprId == a.exprId))

  /** Whether the row is the tombstone of a deleted key, if tombstones are stored. */
  val gone: Option[Attribute] = Option.when(
    key.sequence.nonEmpty && key.columns.nonEmpty && expiry.limitCount > 0
  )(
    AttributeReference(ChangelogSide.Gone, BooleanType, nullable = false)()
  )

  /** The clock beyond which the row expires, if its age counts from the last write. */
  val expires: Option[Attribute] =
    expiry.ttlOfWrite.map(_ =>
      AttributeReference(ChangelogSide.Expires, LongType, nullable = false)()
    )

  /** The columns of a row in the state. */
  val storedColumns: Seq[Attribute] = kept ++ gone ++ expires

  def stored: StructType = DataTypeUtils.fromAttributes(storedColumns)
}

private[changelog] object ChangelogSide {
  val Expires = "_expires"
  val Gone = "_gone"
}
