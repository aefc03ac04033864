package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streamjoin.logical.plan.{EquiKey, InputPart}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.sql.streamjoin.physical.consolidate.PackedUpdate
import org.apache.spark.sql.types.{BooleanType, LongType, StructType}

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.join.changelog.Leaving
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.placement.Routing
import io.streamjoin.watermark.JoinWatermarks

/**
 * One input of a changelog join.
 *
 * @param columns as they arrive
 * @param added whether a row is there from now on, or no more
 * @param packed the format of updates, if both images are one row
 * @param key the unique key; empty: there is none
 * @param keyFromBelow whether that follows from a join below, see [[org.apache.spark.sql.streamjoin.logical.plan.UniqueKey]]
 * @param nullKey whether NULL is a key as any other
 * @param oneAKey whether there is at most one row of a join key
 * @param sequence which of two changes of one key is later
 * @param sequenceAsked whether somebody asks for it besides
 * @param only what of the condition concerns this input alone
 * @param leaves the numbers of the times by which a row leaves
 * @param ttl for how long a row is kept, in microseconds
 * @param ttlTime the number of the time from which that counts; none: from when it was written
 */
private[changelog] final case class ChangelogSide(
    columns: Seq[Attribute],
    added: Attribute,
    packed: Option[PackedUpdate],
    key: Seq[Attribute],
    keyFromBelow: Boolean,
    nullKey: Boolean,
    oneAKey: Boolean,
    sequence: Option[Attribute],
    sequenceAsked: Boolean,
    only: Option[Expression],
    leaves: IndexedSeq[Int],
    ttl: Option[Long],
    ttlTime: Option[Int]
) {

  /** How many limits a row has: the times by which it leaves, then its age. */
  def limitCount: Int = leaves.length + ttl.size

  /** For how long a row is kept after it was written, where that is what counts. */
  def ttlOfWrite: Option[Long] = ttl.filter(_ => ttlTime.isEmpty)

  /** What is kept of a row. */
  val kept: Seq[Attribute] = columns.filterNot(_.exprId == added.exprId)

  /** The columns as they arrive behind the shuffle. */
  val arriving: Seq[Attribute] = columns ++ packed.toSeq.flatMap(_.more)

  /** What is kept of a row, of the image that it replaces. */
  val replaced: Seq[Attribute] = packed.fold(kept)(_.before(kept))

  /** In which of that a change changes something. */
  val image: Seq[Attribute] =
    kept.filterNot(a => !sequenceAsked && sequence.exists(_.exprId == a.exprId))

  /** Whether it is a sign that its key is gone, where such are kept. */
  val gone: Option[Attribute] = Option.when(sequence.nonEmpty && key.nonEmpty && limitCount > 0)(
    AttributeReference(ChangelogSide.Gone, BooleanType, nullable = false)()
  )

  /** The clock beyond which it goes, where that is that of when it was written. */
  val expires: Option[Attribute] =
    ttlOfWrite.map(_ => AttributeReference(ChangelogSide.Expires, LongType, nullable = false)())

  /** The same as it lies in the state. */
  val storedColumns: Seq[Attribute] = kept ++ gone ++ expires

  def stored: StructType = DataTypeUtils.fromAttributes(storedColumns)
}

private[changelog] object ChangelogSide {
  val Expires = "_expires"
  val Gone = "_gone"
}

/**
 * What the tasks of a changelog join need to know.
 *
 * @param appendOnly whether it is an inner join of rows that only come and have no key: see
 *   [[io.streamjoin.join.changelog.AppendOnlyJoin]]. Their inputs have no column that says so
 * @param data the columns of the inputs that somebody asks for
 * @param wanted which rows of the output somebody asks for; none: all
 * @param filters what of that goes by one input alone. Once a checkpoint is known, those by which its rows come
 * @param changes the columns that say what became of a row
 * @param required those of both that somebody asks for, in the order in which they come out
 * @param added the one of `required` that says whether a row comes, where that is asked in the place of its kind
 * @param outputKey the columns by which rows of the output are told apart; empty: there are none, or not
 *   all of them are asked for
 * @param bases where watermarks start, in the order in which they are stored
 * @param times the expression behind each column of `watermarks.bounds`
 * @param leaving by which of the times rows leave
 * @param zones the time zones of the session that the bounds depend on
 * @param parts what the inputs are made of, above their sources, as far as somebody asks for it
 * @param normalizes whether it only keeps the last image of each key of an input
 * @param aliases what the person calls each input, by the names of the sides
 * @param summary which rows meet, in a few words
 * @param explained in words
 * @param forEver what of it says that rows are kept without limit
 */
private[changelog] final case class ChangelogSpec(
    joinType: JoinType,
    equiKeys: Seq[EquiKey],
    condition: Expression,
    left: ChangelogSide,
    right: ChangelogSide,
    appendOnly: Boolean,
    data: Seq[Attribute],
    wanted: Option[Expression],
    filters: Seq[InputFilter],
    changes: Seq[Attribute],
    required: Seq[Attribute],
    added: Option[Attribute],
    outputKey: Seq[Attribute],
    bases: Seq[BaseColumn],
    times: IndexedSeq[Expression],
    watermarks: JoinWatermarks,
    leaving: Leaving,
    zones: Set[String],
    parts: Seq[(Side, InputPart)],
    normalizes: Boolean,
    aliases: Map[Side, String],
    summary: String,
    explained: Seq[String],
    forEver: Seq[String]
) {
  def bounds: JoinBounds = watermarks.bounds

  /** A full join without an equality is in one partition: both inputs are preserved. */
  def routing: Routing =
    if (joinType == JoinType.FullOuter) Routing.ByKey
    else Routing.of(joinType, equiKeys.nonEmpty)

  /**
   * By what rows of a side are spread where nothing says which ones meet: all changes of a row to one place. Not by a key
   * from below, which the changes of older checkpoints were not spread by, and each image finds its like without.
   */
  def spread(of: Side): Seq[Attribute] =
    if (joinType == JoinType.FullOuter) Nil
    else if (side(of).key.nonEmpty && !side(of).keyFromBelow) side(of).key
    else side(of).image

  def side(side: Side): ChangelogSide = if (side == Side.Left) left else right

  /** With rows of these sides told apart by all their columns, although a join below gives them a key. */
  def counting(sides: Set[Side]): ChangelogSpec = {
    def of(side: Side) =
      if (sides(side)) this.side(side).copy(key = Nil, keyFromBelow = false, oneAKey = false)
      else this.side(side)
    copy(left = of(Side.Left), right = of(Side.Right))
  }

  def keys(side: Side): Seq[Expression] =
    equiKeys.map(_.of(side))
}
