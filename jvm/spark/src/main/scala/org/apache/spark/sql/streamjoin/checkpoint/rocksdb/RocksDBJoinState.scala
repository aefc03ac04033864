package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreIterator,
  UnsafeRowPair
}
import org.apache.spark.sql.streamjoin.checkpoint.{
  FormatNumber,
  LongRow,
  StateFormat,
  StateShape,
  StoredNumbers,
  UnsafeRowCodec
}
import org.apache.spark.sql.streamjoin.errors.StateErrors
import org.apache.spark.sql.streamjoin.spark.OrderedFamily
import org.apache.spark.util.CompletionIterator

import io.streamjoin.model.{BySide, Side, Watermarks}
import io.streamjoin.state.segment.{SegmentJoinState, StateRow}
import io.streamjoin.state.{BufferedRow, JoinState, Probed}

/**
 * Buffered rows in Spark's `StateStore`, in the layout of [[RocksDBLayout]].
 *
 * New rows of a batch stay in memory until [[flush]]. A row that its own batch evicts never reaches
 * the store.
 */
private[rocksdb] final class RocksDBJoinState(store: StateStore, shape: StateShape)
    extends JoinState[UnsafeRow] {

  private val numbers = new StoredNumbers(store)
  if (store.version > 0) {
    FormatNumber.check(
      store.id.storeCheckpointLocation().toString,
      RocksDBLayout.Format,
      numbers.get(RocksDBLayout.FormatName)
    )
  }

  private val batch = new SegmentJoinState[UnsafeRow](
    shape.limits,
    shape.span,
    side => new UnsafeRowCodec(shape.schema(side).length),
    timeIndex = shape.timeIndex
  )
  private val stored = BySide.of(new StoredSide(_))
  private var sequence = numbers.get(RocksDBLayout.SequenceName).getOrElse(0L)

  override def probe(
      side: Side,
      key: Long,
      from: Long,
      to: Long
  ): Probed[UnsafeRow] = {
    val fresh = batch.probe(side, key, from, to)
    val found = if (from > to) None else stored(side).scan(key, from, to)
    found.fold(fresh)(new Cursor(stored(side), _, fresh))
  }

  override def append(
      side: Side,
      key: Long,
      time: Long,
      limits: Array[Long],
      row: UnsafeRow,
      matched: Boolean
  ): Unit = batch.append(side, key, time, limits, row, matched)

  override def evict(
      side: Side,
      before: Array[Long],
      now: Array[Long]
  ): Iterator[BufferedRow[UnsafeRow]] =
    stored(side).evict(before, now, rowNeeded = true) ++ batch.evict(side, before, now)

  override def discard(side: Side, before: Array[Long], now: Array[Long]): Long =
    stored(side).evict(before, now, rowNeeded = false).length + batch.discard(side, before, now)

  override def least(side: Side, k: Int): Long =
    if (k >= shape.limits(side)) Watermarks.Unknown
    else math.min(stored(side).least(k), batch.least(side, k))

  override def size(side: Side): Long = stored(side).size + batch.size(side)

  /** Writes the remaining rows of the batch to the store, and returns their number. */
  def flush(): Long = {
    val written = batch.size(Side.Left) + batch.size(Side.Right)
    for (side <- Side.both) batch.foreach(side) { row =>
      stored(side).put(row, sequence)
      sequence += 1
    }
    Side.both.foreach(stored(_).saveNumbers())
    numbers.put(RocksDBLayout.SequenceName, sequence)
    numbers.put(RocksDBLayout.FormatName, FormatNumber.Current.toLong)
    written
  }

  /** Cursor over stored rows, then over new rows of the batch. */
  private final class Cursor(
      side: StoredSide,
      found: StateStoreIterator[UnsafeRowPair],
      fresh: Probed[UnsafeRow]
  ) extends Probed[UnsafeRow] {
    private var at: Option[InStore] = None
    private var open = true

    override def hasNext: Boolean = open && found.hasNext || {
      close()
      fresh.hasNext
    }

    override def next(): BufferedRow[UnsafeRow] =
      if (open && found.hasNext) {
        val row = side.read(found.next())
        at = Some(row)
        row
      } else {
        at = None
        fresh.next()
      }

    override def setMatched(): Unit = at.fold(fresh.setMatched())(side.markMatched)

    override def remove(): Unit = at.fold(fresh.remove())(side.remove(_, exceptLimit = -1))

    override def close(): Unit = if (open) {
      open = false
      found.close()
    }
  }

  private final class StoredSide(side: Side) {
    private val rowsFamily = RocksDBLayout.rows(side)
    private val limitsFamily = RocksDBLayout.limits(side)
    private val fields = shape.schema(side).length
    private val limitCount = shape.limits(side)
    private val sizeName = RocksDBLayout.sizeName(side)
    private val (from, to, rowKey) = (new LongRow(3), new LongRow(3), new LongRow(3))
    private val (limitFrom, limitTo, limitKey) = (new LongRow(5), new LongRow(5), new LongRow(5))
    private val toValue = UnsafeProjection.create(StateFormat.rowValue(shape.schema(side)))
    private val nothing = UnsafeProjection.create(RocksDBLayout.limitValue)(InternalRow(null))
    private var count = numbers.get(sizeName).getOrElse(0L)
    private var evictedTo = Array.emptyLongArray

    private val rows = new OrderedFamily(store, RocksDBLayout.rowFamily(side, shape.schema(side)))
    private val limits = new OrderedFamily(store, RocksDBLayout.limitFamily(side))

    def size: Long = count

    def saveNumbers(): Unit = {
      numbers.put(sizeName, count)
      for (k <- evictedTo.indices if evictedTo(k) != Watermarks.Unknown) {
        numbers.put(RocksDBLayout.evictedName(side, k), evictedTo(k))
      }
    }

    private def value(matched: Boolean, row: UnsafeRow): UnsafeRow =
      toValue(InternalRow(matched, row))

    def put(row: StateRow[UnsafeRow], sequence: Long): Unit = {
      store.put(
        rowKey(row.key, row.time, sequence),
        value(row.matched, row.row),
        rowsFamily
      )
      for (k <- 0 until limitCount) {
        store.put(
          limitKey(k, row.limit(k), row.key, row.time, sequence),
          nothing,
          limitsFamily
        )
      }
      count += 1
    }

    def scan(
        key: Long,
        least: Long,
        greatest: Long
    ): Option[StateStoreIterator[UnsafeRowPair]] =
      Option.when(count > 0) {
        val last =
          if (greatest == Long.MaxValue) to(key, greatest, Long.MaxValue)
          else to(key, greatest + 1, Long.MinValue)
        rows.scan(from(key, least, Long.MinValue), last)
      }

    /**
     * The smallest limit `k`. The scan starts at the watermark of the last eviction, since no row
     * has a smaller limit.
     */
    def least(k: Int): Long =
      if (count == 0) Long.MaxValue
      else {
        val (low, high) = (Long.MinValue, Long.MaxValue)
        val from = if (evictedTo.isEmpty) low else evictedTo(k)
        val found = limits.scan(
          limitFrom(k, from, low, low, low),
          limitTo(k, high, high, high, high)
        )
        try if (found.hasNext) found.next().key.getLong(1) else high
        finally found.close()
      }

    def read(pair: UnsafeRowPair): InStore =
      new InStore(
        pair.value.getStruct(1, fields),
        pair.key.getLong(0),
        pair.key.getLong(1),
        pair.key.getLong(2),
        pair.value.getBoolean(0)
      )

    def markMatched(row: InStore): Unit = {
      row.matched = true
      store.put(rowKey(row.key, row.time, row.sequence), value(matched = true, row.row), rowsFamily)
    }

    def remove(row: InStore, exceptLimit: Int): Unit = if (!row.removed) {
      row.removed = true
      store.remove(rowKey(row.key, row.time, row.sequence), rowsFamily)
      count -= 1
      lazy val all = shape.limitsOf(side, row.row, row.matched)
      for (k <- 0 until limitCount if k != exceptLimit) {
        store.remove(limitKey(k, all(k), row.key, row.time, row.sequence), limitsFamily)
      }
    }

    /**
     * @param rowNeeded whether the caller reads the evicted rows. If not, their `row` may be null
     */
    def evict(
        before: Array[Long],
        now: Array[Long],
        rowNeeded: Boolean
    ): Iterator[BufferedRow[UnsafeRow]] = {
      evictedTo = now
      // without rows, stale limits may remain: see take
      if (count == 0 && !shape.renewed(side)) Iterator.empty
      else now.indices.iterator.filter(k => before(k) < now(k)).flatMap(k =>
        evict(k, before(k), now(k), rowNeeded)
      )
    }

    /**
     * Evicts rows whose limit `k` is in `[before, now)`. A new row with a smaller limit is evicted
     * in memory and never stored.
     */
    private def evict(
        k: Int,
        before: Long,
        now: Long,
        rowNeeded: Boolean
    ): Iterator[BufferedRow[UnsafeRow]] = {
      val least = Long.MinValue
      def begin = limitFrom(k, before, least, least, least)
      def end = limitTo(k, now, least, least, least)
      val found = limits.scan(begin, end)
      val going = found.flatMap { p =>
        val row = take(p.key.getLong(2), p.key.getLong(3), p.key.getLong(4), rowNeeded)
        row.foreach(remove(_, exceptLimit = k))
        row
      }
      CompletionIterator[InStore, Iterator[InStore]](
        going, {
          found.close()
          limits.deleteRange(begin, end)
        }
      )
    }

    /**
     * Looks up the row of a limit. None if the row was removed before: [[remove]] computes limits
     * from the row, and misses one that was stored under an earlier TTL.
     */
    private def take(
        key: Long,
        time: Long,
        sequence: Long,
        rowNeeded: Boolean
    ): Option[InStore] =
      if (rowNeeded || limitCount > 1 || shape.renewed(side)) {
        val value = store.get(rowKey(key, time, sequence), rowsFamily)
        if (value == null && shape.renewed(side)) None
        else if (value == null) {
          throw StateErrors.incompatibleCheckpoint(
            store.id.storeCheckpointLocation().toString,
            s"a row of the ${side.name} input is missing",
            "its expiry",
            "the row and its expiry"
          )
        } else
          Some(new InStore(value.getStruct(1, fields), key, time, sequence, value.getBoolean(0)))
      } else {
        Some(new InStore(null, key, time, sequence, matched = false))
      }
  }
}

/** A row in the store. Its contents stay valid after the cursor moves. */
private final class InStore(
    override val row: UnsafeRow,
    override val key: Long,
    override val time: Long,
    val sequence: Long,
    var matched: Boolean
) extends BufferedRow[UnsafeRow] {
  var removed: Boolean = false
}
