package io.streamjoin.join.changelog

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataOutputStream}
import java.nio.ByteBuffer

import scala.collection.mutable

import io.streamjoin.bounds.{JoinBounds, RowTimes, TimeBound, TimeColumn}
import io.streamjoin.join.Counters
import io.streamjoin.model.{BySide, JoinType, Side, Watermarks}
import io.streamjoin.state.JoinState
import io.streamjoin.state.segment.SegmentJoinState
import io.streamjoin.state.segment.history.PackedInput
import io.streamjoin.state.segment.pages.{MemoryPool, RowCodec, Spilling}
import io.streamjoin.testing.{HeapJoinState, LocalFiles}

/**
 * A row of a changelog.
 *
 * @param join the join key; None is NULL
 * @param unique the unique key, if the side has one
 * @param value the other columns; odd values fail the one-sided condition, if there is one
 * @param time the event time, if the join bounds it
 * @param sequence orders the changes of a unique key
 */
final case class Row(
    join: Option[Int],
    unique: Int,
    value: Int,
    sequence: Int = 0,
    expires: Long = Long.MaxValue,
    time: Long = 0,
    deleted: Boolean = false
)

/**
 * A change of an input.
 *
 * @param added whether the row is inserted or deleted
 */
final case class Change[R](row: R, added: Boolean)

/** An output row: the rows of both sides, None if there is none. */
final case class Out(left: Option[Row], right: Option[Row])

/** How the rows of a side are identified. */
sealed trait Layout
object Layout {

  /** The join key contains the unique key. */
  case object OneAKey extends Layout
  case object UniqueKey extends Layout
  case object NoKey extends Layout
  val all: Seq[Layout] = Seq(OneAKey, UniqueKey, NoKey)
}

/** What the expiry of a row by its TTL does to its results. */
sealed trait Expiry
object Expiry {

  /** They stay until the row is deleted. */
  case object Keep extends Expiry

  /** They stay, and a delete of a row that is not stored is ignored. */
  case object Forget extends Expiry

  /** They are retracted. */
  case object Retract extends Expiry
}

/**
 * @param residual whether a pair must have values of equal parity of their thirds
 * @param within the right time is at most this much later than the left one, and not earlier; None:
 *   no bound
 * @param selective whether a filter on the output selects some rows
 * @param narrow whether the output lacks the value of the rows whose key identifies it
 * @param equality whether rows of different join keys never match
 * @param aging whether rows have a TTL from their last write; else it is from their event time
 * @param condition the residual condition of a pair
 * @param nullSafe whether a join key that is NULL is equal to itself
 * @param expiry what a row with a TTL does when it expires
 * @param hashes the number of different key hashes; with few, different keys share a hash
 */
final case class TestChangelog(
    joinType: JoinType,
    left: Layout,
    right: Layout,
    residual: Boolean = false,
    filtered: Boolean = false,
    within: Option[Long] = None,
    selective: Boolean = false,
    narrow: Boolean = false,
    equality: Boolean = true,
    hashes: Int = 1 << 20,
    aging: Boolean = false,
    reports: Boolean = false,
    nullSafe: Boolean = false,
    expiry: Expiry = Expiry.Keep,
    condition: (Row, Row) => Boolean = (_, _) => true
) extends ChangelogRows[Row] {

  def layout(side: Side): Layout = if (side == Side.Left) left else right

  def hash(join: Option[Int]): Long =
    if (equality) Math.floorMod(join.hashCode, hashes).toLong else 0L

  private def bytes(row: Row): String = row.copy(expires = 0L, sequence = 0).toString

  /** The clock of the TTL at the end of the batch before. */
  var now: Long = Long.MinValue

  /** The number of evaluations of the condition. */
  var evaluations: Long = 0L

  override def matches(l: Row, r: Row): Boolean = {
    evaluations += 1
    (!equality || l.join == r.join) && apply(Side.Left).joinable(l) && apply(
      Side.Right
    ).joinable(r) &&
    (!residual || l.value / 3 % 2 == r.value / 3 % 2) &&
    within.forall(w => r.time >= l.time && r.time <= l.time + w) && condition(l, r)
  }

  private val columns =
    Side.both.map(s => TimeColumn(s, s"${s.name}.time", watermarked = true, nullable = false))

  val bounds: JoinBounds = new JoinBounds(
    columns.toIndexedSeq,
    within.toSeq.flatMap(w => Seq(TimeBound(1, 0, 0L), TimeBound(0, 1, w))),
    Nil
  )

  /** The watermarks, by side, below which a change is late. */
  val watermarks: Array[Long] = Array.fill(2)(Watermarks.Unknown)

  private def column(side: Side): Int = if (side == Side.Left) 0 else 1

  private val leaving = new EvictionRule(bounds, alone = false)
  private val times = new RowTimes(2)

  private final class OneSide(side: Side) extends InputRows[Row] {
    override def keyed: Boolean = layout(side) != Layout.NoKey

    override def identity(row: Row): Long = layout(side) match {
      case Layout.OneAKey   => 0L
      case Layout.UniqueKey => (row.unique % 3).toLong
      case Layout.NoKey     => (row.value % 3).toLong
    }

    private val byKey: Ordering[Row] = Ordering.by(row =>
      (row.join, if (layout(side) == Layout.OneAKey) 0 else row.unique)
    )

    override def compareIdentity(a: Row, b: Row): Int =
      if (keyed) byKey.compare(a, b) else compare(a, b)

    override def remembered(row: Row): Boolean = keyed && row.sequence > 0

    override def tombstone(row: Row, before: Option[Row]): Option[Row] =
      Some(row.copy(deleted = true)).filter { r =>
        r.sequence > 0 && (r.expires != Long.MaxValue || within.nonEmpty)
      }

    override def isTombstone(row: Row): Boolean = row.deleted

    override def compareSequence(a: Row, b: Row): Int =
      Integer.compare(a.sequence, b.sequence)

    override def compare(a: Row, b: Row): Int = bytes(a).compareTo(bytes(b))

    override def reportsWrites: Boolean = reports

    override def joinable(row: Row): Boolean =
      !row.deleted && (!equality || nullSafe || row.join.nonEmpty) && (!filtered || row.value % 2 == 0)

    override def seen(row: Row): AnyRef = (row.join, row.value, row.time, row.deleted)

    override def copy(row: Row): Row = row

    override def late(row: Row): Boolean = {
      times.set(column(side), row.time)
      leaving.late(side, times, watermarks)
    }

    override def mayHaveExpired(row: Row): Boolean = expiry == Expiry.Keep &&
      (if (aging) row.expires != Long.MaxValue else row.expires < now)

    override def retractsExpired: Boolean = expiry == Expiry.Retract

    override def expired(row: Row): Boolean = retractsExpired && row.expires < now

    override def marksMatched: Boolean =
      expiry == Expiry.Keep && within.isEmpty && joinType.emits(side)

    override def agesByWrite: Boolean = aging

    override def limitCount: Int = 2

    override def limits(row: Row, into: Array[Long]): Unit = {
      into(0) = row.expires
      into(1) = if (within.isEmpty) Long.MaxValue else row.time
    }
  }

  private val sides = BySide.of(new OneSide(_))

  override def apply(side: Side): InputRows[Row] = sides(side)

  /** The clock that expires the rows of a side. */
  def clock(side: Side, received: Array[Long]): Long =
    if (within.isEmpty) Watermarks.Unknown else leaving.clock(column(side), received)

  def wanted(o: Out): Boolean =
    !selective || (o.left.toSeq ++ o.right).map(_.value).sum % 3 != 0

  /** The output columns: neither sequence nor TTL. */
  def shown(o: Out): Out = {
    def row(side: Side)(r: Row) = r.copy(
      value = if (narrow && identifies(side)) 0 else r.value,
      sequence = 0,
      expires = Long.MaxValue
    )
    Out(o.left.map(row(Side.Left)), o.right.map(row(Side.Right)))
  }

  val output: ChangelogOutput[Row, Out] = new ChangelogOutput[Row, Out] {
    private def padded(side: Side, row: Row) =
      if (side == Side.Left) Out(Some(row), None) else Out(None, Some(row))
    override def joined(l: Row, r: Row): Option[Out] =
      Some(Out(Some(l), Some(r))).filter(wanted).map(shown)
    override def alone(side: Side, row: Row): Option[Out] =
      Some(padded(side, row)).filter(wanted).map(shown)
    override def identifiedBy(side: Side): Boolean = identifies(side)
    override def ofKey(side: Side, row: Row): Out = shown(padded(side, row))
    override def key(row: Out): Option[AnyRef] =
      Option.when(apply(Side.Left).keyed && apply(Side.Right).keyed) {
        (row.left.map(r => (r.join, r.unique)), row.right.map(r => (r.join, r.unique)))
      }
    override def sameKey(a: Out, b: Out): Boolean = key(a).exists(key(b).contains)
  }

  /** Whether the key of a side is the key of the output. */
  def identifies(side: Side): Boolean = apply(side).keyed && {
    if (joinType.leftOnly) side == Side.Left
    else layout(side.other) == Layout.OneAKey && equality && !joinType.preserves(side.other)
  }

  /** The result of two tables. */
  def result(l: Seq[Row], r: Seq[Row]): Seq[Out] = all(l, r).filter(wanted)

  private def all(l: Seq[Row], r: Seq[Row]): Seq[Out] = {
    val pairs = for (a <- l; b <- r if matches(a, b)) yield (a, b)
    val aloneLeft = l.filterNot(a => r.exists(matches(a, _))).map(a => Out(Some(a), None))
    val aloneRight = r.filterNot(b => l.exists(matches(_, b))).map(b => Out(None, Some(b)))
    val joined = pairs.map { case (a, b) => Out(Some(a), Some(b)) }
    joinType match {
      case JoinType.Inner      => joined
      case JoinType.LeftOuter  => joined ++ aloneLeft
      case JoinType.RightOuter => joined ++ aloneRight
      case JoinType.FullOuter  => joined ++ aloneLeft ++ aloneRight
      case JoinType.LeftSemi =>
        l.filter(a => r.exists(matches(a, _))).map(a => Out(Some(a), None))
      case JoinType.LeftAnti => aloneLeft
    }
  }
}

/**
 * Runs batches of a join on a heap state or a segment state.
 *
 * @param remembers whether partner counts are kept between batches
 * @param appends whether inputs are insert-only and use the append-only operator
 * @param memory memory limit of a segment state between two versions; spilled rows are searched on
 *   disk
 */
final class ChangelogDriver(
    join: TestChangelog,
    segments: Boolean = false,
    remembers: Boolean = true,
    appends: => Boolean = false,
    memory: Long = Long.MaxValue
) {

  private val codecs = Side.both.map(_ -> new Codec).toMap
  private val versions = mutable.ArrayBuffer.empty[Array[Byte]]
  private var state: JoinState[Row] = empty()

  private def empty(): JoinState[Row] =
    if (segments)
      new SegmentJoinState[Row](
        _ => 2,
        _ => 1L,
        codecs,
        Spilling(new MemoryPool, memory, LocalFiles.create, searchedFrom = 1)
      )
    else new HeapJoinState[Row](identity)

  /** Commits a version. */
  private def version(): Unit = state match {
    case s: SegmentJoinState[Row] =>
      s.number()
      val bytes = new ByteArrayOutputStream
      val out = new DataOutputStream(bytes)
      s.writeChange(out)
      out.flush()
      versions += bytes.toByteArray
      s.seal()
      s.shrink()
    case _ =>
  }

  /** Restores a segment state from its written versions. */
  def restart(): Unit = if (segments) {
    close()
    state = empty()
    partners = new PartnerCounts
    state match {
      case s: SegmentJoinState[Row] if versions.nonEmpty =>
        s.restore { read =>
          versions.reverseIterator.foreach(v => read(new PackedInput(new ByteArrayInputStream(v))))
        }
      case _ =>
    }
  }

  /** Runs a batch up to these changes, which then fails. */
  def failedBatch(left: Seq[Change[Row]], right: Seq[Change[Row]]): Unit = state match {
    case s: SegmentJoinState[Row] =>
      byKey(left, right)
      s.rollback()
      partners = new PartnerCounts
    case _ =>
  }

  def close(): Unit = state match {
    case s: SegmentJoinState[Row] => s.close()
    case _                        =>
  }

  val counters = new Counters
  private var partners = new PartnerCounts
  private def operator = {
    if (!remembers) partners = new PartnerCounts
    new ChangelogJoin[Row, Out](join.joinType, join, join.output, state, counters, partners)
  }
  private def retracts = join.expiry == Expiry.Retract

  /** The clock of the last batch whose rows were expired. */
  private var expiredAt = Long.MinValue

  /** The append-only operator. */
  def appending: AppendOnlyJoin[Row, Out] =
    new AppendOnlyJoin[Row, Out](join, join.output, state, counters)
  private def expiring: Expiring = if (appends) appending else operator
  private var clock = Long.MinValue

  def at(now: Long): Unit = {
    clock = now
    join.now = now
    if (!retracts) expire(expiring)
    version()
  }

  private def expire(by: Expiring): Unit = {
    Side.both.foreach { side =>
      by.expire(side, Array(expiredAt, Watermarks.Unknown), Array(clock, Watermarks.Unknown))
    }
    expiredAt = clock
  }

  def batch(left: Seq[Change[Row]], right: Seq[Change[Row]]): Seq[Changed[Out]] = {
    val out = if (appends) appended(left, right) else byKey(left, right)
    version()
    out
  }

  private def appended(left: Seq[Change[Row]], right: Seq[Change[Row]]): Seq[Changed[Out]] = {
    val ofBatch = appending
    for (
      (side, change) <- left.map(Side.Left -> _) ++ right.map(Side.Right -> _);
      out <- ofBatch.insert(side, join.hash(change.row.join), change.row)
    ) yield out
  }

  private def byKey(left: Seq[Change[Row]], right: Seq[Change[Row]]): Seq[Changed[Out]] = {
    val (l, r) =
      (left.groupBy(c => join.hash(c.row.join)), right.groupBy(c => join.hash(c.row.join)))
    // as in a task, one instance for all join keys
    val ofBatch = operator
    if (retracts) expire(ofBatch)
    (l.keySet ++ r.keySet ++ ofBatch.retractedKeys).toSeq.sorted.flatMap { key =>
      ofBatch.process(key, marked(l.getOrElse(key, Nil)), marked(r.getOrElse(key, Nil))).toVector
    }
  }

  private def marked(changes: Seq[Change[Row]]): ChangeBuffer[Row] = {
    val rows = new ChangeBuffer[Row]
    changes.foreach(c => rows.add(c.row, c.added))
    rows
  }

  /** The watermarks rise. */
  def advance(received: Array[Long]): Unit = {
    val before = join.watermarks.clone()
    for (i <- received.indices) join.watermarks(i) = math.max(before(i), received(i))
    Side.both.foreach { side =>
      expiring.evict(
        side,
        Array(clock, join.clock(side, before)),
        Array(clock, join.clock(side, join.watermarks))
      )
    }
    version()
  }

  def stored(side: Side): Long = state.size(side)

  /**
   * The stored rows, with their limits and marks.
   */
  def rows(side: Side): Seq[(Row, Boolean)] =
    (None +: Seq(0, 1).map(Some(_))).map(join.hash).distinct.flatMap { key =>
      state.probe(side, key, Long.MinValue, Long.MaxValue).map(b => b.row -> b.matched).toVector
    }

  private final class Codec extends RowCodec[Row] {
    private val rows = mutable.ArrayBuffer.empty[Row]
    override def size(row: Row): Int = 8
    override def write(row: Row, into: Array[Byte], at: Int): Unit = {
      ByteBuffer.wrap(into).putLong(at, rows.length.toLong)
      rows += row
    }
    override def read(from: Array[Byte], at: Int, size: Int): Row =
      rows(ByteBuffer.wrap(from).getLong(at).toInt)
  }
}
