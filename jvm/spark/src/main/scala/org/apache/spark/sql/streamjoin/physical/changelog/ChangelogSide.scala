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

  /** The same without a key. */
  def counting: SideKey = copy(columns = Nil, inferred = false, oneAJoinKey = false)
}

/**
 * When rows of an input leave the state.
 *
 * @param leaves the numbers of the times by which a row is evicted
 * @param ttl how long a row is stored, in microseconds
 * @param ttlTime the number of the time from which `ttl` counts; none: from the last write
 */
private[changelog] final case class SideExpiry(
    leaves: IndexedSeq[Int],
    ttl: Option[Long],
    ttlTime: Option[Int]
) {

  /** The number of limits of a row: its eviction times, then its age. */
  def limitCount: Int = leaves.length + ttl.size

  /** How long a row is stored after its last write, if that is what counts. */
  def ttlOfWrite: Option[Long] = ttl.filter(_ => ttlTime.isEmpty)
}

/**
 * One input of a changelog join.
 *
 * @param columns as they arrive
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

  /** What is kept of a row. */
  val kept: Seq[Attribute] = columns.filterNot(_.exprId == added.exprId)

  /** The columns as they arrive behind the shuffle. */
  val arriving: Seq[Attribute] = columns ++ packed.toSeq.flatMap(_.more)

  /** What is kept of a row, of the image that it replaces. */
  val replaced: Seq[Attribute] = packed.fold(kept)(_.before(kept))

  /** In which of that a change changes something. */
  val image: Seq[Attribute] =
    kept.filterNot(a => !key.sequenceRequired && key.sequence.exists(_.exprId == a.exprId))

  /** Whether it is a sign that its key is gone, where such are kept. */
  val gone: Option[Attribute] = Option.when(
    key.sequence.nonEmpty && key.columns.nonEmpty && expiry.limitCount > 0
  )(
    AttributeReference(ChangelogSide.Gone, BooleanType, nullable = false)()
  )

  /** The clock beyond which it goes, where that is that of when it was written. */
  val expires: Option[Attribute] =
    expiry.ttlOfWrite.map(_ =>
      AttributeReference(ChangelogSide.Expires, LongType, nullable = false)()
    )

  /** The same as it lies in the state. */
  val storedColumns: Seq[Attribute] = kept ++ gone ++ expires

  def stored: StructType = DataTypeUtils.fromAttributes(storedColumns)
}

private[changelog] object ChangelogSide {
  val Expires = "_expires"
  val Gone = "_gone"
}
