package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{
  And,
  Ascending,
  Attribute,
  BaseOrdering,
  Coalesce,
  GenericInternalRow,
  JoinedRow,
  Literal,
  Not,
  Predicate,
  RowOrdering,
  SortOrder,
  UnsafeProjection,
  UnsafeRow,
  XXH64
}
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.analysis.EquiKey
import org.apache.spark.sql.streamjoin.physical.exchange.{RowHash, RowsByBytes}
import org.apache.spark.sql.streamjoin.physical.stateful.shown.DisplayNames
import org.apache.spark.sql.streamjoin.physical.stateful.times.RowTimesReader

import io.streamjoin.bounds.{RowTimes, Saturated}
import io.streamjoin.join.changelog.{ChangeBuffer, ChangelogRows, InputRows}
import io.streamjoin.model.Side
import io.streamjoin.model.Side.{Left, Right}

/**
 * Accessors of Spark's rows, with generated code. One instance serves one task. Code is generated
 * on first use, since many a batch needs only a part of it.
 */
private[changelog] final class UnsafeChangelogRows(spec: ChangelogSpec)
    extends ChangelogRows[UnsafeRow] {

  private var nowMs = 0L
  private var before: Array[Long] = _
  private var now: Array[Long] = _

  private val left = new OneSide(Left)
  private val right = new OneSide(Right)
  private lazy val condition =
    Predicate.create(
      (spec.left.gone ++ spec.right.gone).map(Not(_)).foldLeft(spec.on.condition)(And(_, _)),
      spec.left.storedColumns ++ spec.right.storedColumns
    )
  private val pair = new JoinedRow

  override def apply(side: Side): OneSide = if (side == Left) left else right

  /**
   * Begins the batch. It is called when the state is open: the state has the watermarks, and reads
   * the limits of rows while it opens.
   *
   * @param nowMs the recorded time of the batch
   * @param before the watermarks, by column, below which a change is late
   * @param now the watermarks at the end of the batch
   */
  def begin(nowMs: Long, before: Array[Long], now: Array[Long]): Unit = {
    this.nowMs = nowMs
    this.before = before
    this.now = now
  }

  override def matches(l: UnsafeRow, r: UnsafeRow): Boolean = condition.eval(pair(l, r))

  /** The rows of one input. */
  final class OneSide(side: Side) extends InputRows[UnsafeRow] {
    private val own = spec.side(side)
    private val stored = own.storedColumns

    override val keyed: Boolean = own.key.columns.nonEmpty
    override val agesByWrite: Boolean = own.expires.nonEmpty
    override val limitCount: Int = own.expiry.limitCount

    private lazy val toStored = storing(own.kept)
    private lazy val replacedToStored = storing(own.replaced)

    private def storing(image: Seq[Attribute]) = UnsafeProjection.create(
      image ++ own.gone.map(_ => Literal(false)) ++ own.expires.map(_ => Literal(0L)),
      own.arriving.map(_.withNullability(true))
    )

    private val asTheyArrive = own.arriving.map(_.exprId) == stored.map(_.exprId)
    private val ttl = own.expiry.ttlOfWrite.getOrElse(0L)

    /** Sets when the row expires, if its age counts from this write. */
    private def written(row: UnsafeRow): UnsafeRow = {
      if (agesByWrite) row.setLong(stored.length - 1, nowMs * 1000L + ttl)
      row
    }

    /**
     * A row without a key in the stored format. It is valid until the next row arrives, as it may
     * be the arriving row itself.
     */
    def passing(row: UnsafeRow): UnsafeRow = if (asTheyArrive) row else kept(row)

    private lazy val toTombstone = own.gone.map { _ =>
      val before = stored.map(a => a.newInstance().withNullability(true))
      val known = own.kept.zip(before).map { case (a, b) => Coalesce(Seq(a, b)) }
      UnsafeProjection.create((known :+ Literal(true)) ++ own.expires, stored ++ before)
    }
    private val (nothing, pairOfKey) = (new GenericInternalRow(stored.length), new JoinedRow)
    private val leavesBy = new Array[Long](limitCount)

    private def leaves(row: UnsafeRow): Boolean = {
      limits(row, leavesBy)
      leavesBy.exists(_ != Long.MaxValue)
    }

    override def tombstone(row: UnsafeRow, before: Option[UnsafeRow]): Option[UnsafeRow] =
      toTombstone.map(_(pairOfKey(row, before.getOrElse(nothing))).copy()).filter(leaves)

    override def remembered(row: UnsafeRow): Boolean =
      own.key.columns.nonEmpty && own.key.sequence.nonEmpty && (limitCount == 0 || leaves(row))

    private val goneAt = own.kept.length

    override def isTombstone(row: UnsafeRow): Boolean = own.gone.nonEmpty && row.getBoolean(goneAt)
    private val addedAt = own.arriving.indexWhere(_.exprId == own.added.exprId)
    private val presentAt = own.columns.length
    private lazy val hash = {
      val keys = spec.keys(side)
      Option.when(keys.nonEmpty)(new RowHash(keys, own.arriving))
    }
    private lazy val keyHash = new RowHash(own.key.columns, stored)
    private val neverNull: Array[Int] =
      if (own.key.acceptsNull) Array.empty
      else own.key.columns.map(k => stored.indexWhere(_.exprId == k.exprId)).toArray

    /** Projection to the columns that identify a row, if these are not all stored columns. */
    private lazy val data =
      Option.when(own.image.length < stored.length)(UnsafeProjection.create(own.image, stored))

    private lazy val byImage = RowsByBytes.of(own.image, stored)

    private lazy val ofCondition =
      UnsafeProjection.create(stored.filter(spec.on.condition.references.contains), stored)

    override def seen(row: UnsafeRow): AnyRef = ofCondition(row).copy()

    private lazy val byKey: BaseOrdering = ordering(own.key.columns)
    private lazy val bySequence = own.key.sequence.map(s => ordering(Seq(s)))

    override def compareSequence(a: UnsafeRow, b: UnsafeRow): Int =
      if (bySequence.isEmpty) 0 else bySequence.get.compare(a, b)

    private lazy val mayMatch = Predicate.create(
      (own.gone.map(Not(_)).toSeq ++ own.only ++ EquiKey.notNull(spec.on.equiKeys, side))
        .reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral),
      stored
    )

    override def compareIdentity(a: UnsafeRow, b: UnsafeRow): Int =
      if (keyed) byKey.compare(a, b) else compare(a, b)

    override def joinable(row: UnsafeRow): Boolean = mayMatch.eval(row)

    override def copy(row: UnsafeRow): UnsafeRow = row.copy()

    override def reportsWrites: Boolean = spec.normalizes && agesByWrite

    private def ordering(by: Seq[Attribute]): BaseOrdering =
      RowOrdering.create(by.map(SortOrder(_, Ascending)), stored)

    /** The hash of the join key of an arriving row. */
    def joinKey(row: UnsafeRow): Long = if (hash.isEmpty) 0L else hash.get(row)

    /** Adds the changes of an arriving row: a packed update has the old image beside the new one. */
    def addTo(changes: ChangeBuffer[UnsafeRow], row: UnsafeRow): Unit = {
      changes.add(kept(row), row.getBoolean(addedAt))
      if (own.packed.nonEmpty && row.getBoolean(presentAt))
        changes.add(written(replacedToStored(row).copy()), marked = false)
    }

    /** The arriving row in the stored format. NULL in its key fails the query, unless accepted. */
    private def kept(row: UnsafeRow): UnsafeRow = {
      val kept = written(toStored(row).copy())
      if (kept.anyNull && neverNull.exists(kept.isNullAt)) {
        throw StreamJoinErrors.runtime(
          "NULL_KEY",
          "input" -> spec.words.aliases.getOrElse(side, DisplayNames.none.inputs(side)),
          "key" -> own.key.columns.map(_.name).mkString(", ")
        )
      }
      kept
    }

    override def identity(row: UnsafeRow): Long =
      if (own.key.oneAJoinKey) 0L
      else if (keyed) keyHash(row)
      else {
        val told = if (data.isEmpty) row else data.get(row)
        XXH64.hashUnsafeBytes(told.getBaseObject, told.getBaseOffset, told.getSizeInBytes, 42L)
      }

    override def compare(a: UnsafeRow, b: UnsafeRow): Int = byImage.compare(a, b)

    private lazy val times = {
      val columns = spec.bounds.indices(side).toArray
      new RowTimesReader(columns, columns.map(spec.times.expressions(_)), stored)
    }
    private val read = new RowTimes(spec.times.expressions.length)

    override def late(row: UnsafeRow): Boolean = spec.leaving.exists && {
      times.read(row, read)
      spec.leaving.late(side, read, before)
    }

    /** A delete with only the key does not contain the time of its row, which may have expired. */
    override def mayHaveExpired(row: UnsafeRow): Boolean = own.expiry.keepsResults &&
      own.expiry.ttlTime.forall(isOver(row, _, before, withoutTime = keyed))

    override val retractsExpired: Boolean = own.expiry.retracts

    override def expired(row: UnsafeRow): Boolean = retractsExpired && !isTombstone(row) &&
      own.expiry.ttlTime.exists(isOver(row, _, now, withoutTime = false))

    private def isOver(row: UnsafeRow, column: Int, clock: Array[Long], withoutTime: Boolean) = {
      times.read(row, read)
      if (read.isNull(column)) withoutTime
      else Saturated.add(read(column), own.expiry.ttl.get) < clock(column)
    }

    override val marksMatched: Boolean = spec.marksMatched(side)

    /** A NULL time neither evicts nor expires its row. */
    private def time(column: Int): Long = if (read.isNull(column)) Long.MaxValue else read(column)

    override def limits(row: UnsafeRow, into: Array[Long]): Unit = if (limitCount > 0) {
      if (spec.times.expressions.nonEmpty) times.read(row, read)
      for (k <- own.expiry.leaves.indices) into(k) = time(own.expiry.leaves(k))
      for (ttl <- own.expiry.ttl) into(own.expiry.leaves.length) = own.expiry.ttlTime match {
        case Some(column) => Saturated.add(time(column), ttl)
        case None         => row.getLong(stored.length - 1)
      }
    }
  }
}
