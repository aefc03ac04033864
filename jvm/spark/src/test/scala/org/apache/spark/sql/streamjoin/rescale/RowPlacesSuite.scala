package org.apache.spark.sql.streamjoin.rescale

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.streamjoin.checkpoint._
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredJoin
import org.apache.spark.sql.streamjoin.logical.plan.analysis.KeyHash
import org.apache.spark.sql.types.{DataType, LongType, StructType, TimestampType}
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{BySide, JoinType, Side}
import io.streamjoin.placement._

/** Stored rows get the places that they would have if the join had started with the new number. */
class RowPlacesSuite extends AnyFunSuite {

  private val schema = StructType.fromDDL("id BIGINT, t BIGINT")
  private val unsafe = UnsafeProjection.create(Array[DataType](LongType, LongType))

  private val columns = Seq("id", "t").map(AttributeReference(_, LongType)())
  private val byId = KeyReading(columns.take(1), columns, hashed = true, placed = true)
  private val hash = UnsafeProjection.create(Seq(KeyHash.of(byId.expressions)), columns)
  private def hashOf(row: UnsafeRow): Long = hash(row).getLong(0)

  private def join(routing: Routing, partitions: Int): StoredJoin = {
    val times = BySide.of(s => StoredTime(s"${s.name}.t", TimestampType))
    val described = JoinDescription(
      "segments",
      JoinType.FullOuter,
      Routing.ByKey,
      Nil,
      DescribedTimes(Nil, Nil, times, BySide(Nil, Nil), Nil),
      None,
      DescribedKind.EventTime
    )
    StoredJoin(
      0L,
      partitions,
      described,
      isOrder = false,
      routing,
      BySide(schema, schema),
      metadata = null,
      version = 1L,
      recordsIds = false,
      contents = null
    )
  }

  private def row(id: Long, time: Long): UnsafeRow = unsafe(InternalRow(id, time)).copy()

  /** The places of rows in a join with a number of partitions: partition, key and row. */
  private def placed(routing: Routing, partitions: Int, rows: Seq[(StoredRow, Int)]) = {
    val targets = new StoredRowTargets(routing, partitions)
    val found = mutable.Buffer.empty[(Int, StoredRow)]
    for ((row, keyPartition) <- rows)
      targets.foreach(row.side, row.key, row.time, row.row, keyPartition) { (p, key) =>
        found += p -> row.copy(key = key)
      }
    found.toSeq
  }

  private def shown(places: Iterable[(Int, StoredRow)]): Seq[(Int, String, Long, Long, Long)] =
    places.map { case (p, r) => (p, r.side.name, r.key, r.row.getLong(0), r.time) }.toSeq.sorted

  /**
   * Moves rows from some partitions to others, and compares their places.
   *
   * @param to the routing with the new number of partitions
   * @param keys the possible readings of the key, of which the last is right; none: rows have no key
   * @param hash the key under which all rows are stored; none: the hash of their ID
   */
  private def check(
      from: (Routing, Int),
      to: (Routing, Int),
      keys: Seq[KeyReading],
      random: Random,
      hash: Option[Long] = None
  ): Unit = {
    val (before, old) = from
    val values = new KeyValues(byId, old, to._2)
    val rows = Seq.fill(40) {
      val (id, time) = (random.nextInt(6).toLong, random.nextInt(400).toLong)
      val stored = row(id, time)
      values.read(stored)
      val key = if (keys.isEmpty) Routing.NoKey else hash.getOrElse(hashOf(stored))
      val side = Side.both(random.nextInt(2))
      val places = (values.oldPartition, values.newPartition)
      StoredRow(side, key, time, Array.emptyLongArray, matched = false, stored) -> places
    }
    val stored = placed(before, old, rows.map { case (row, (old, _)) => row -> old })
    val moved = mutable.Buffer.empty[(Int, StoredRow)]
    for (p <- 0 until old) {
      val places = new RowPlaces(join(before, old), BySide(keys, keys), to._2, p)
      for ((_, row) <- stored.filter(_._1 == p))
        places.foreach(row)((target, key) => moved += target -> row.copy(key = key))
      for (side <- Side.both if keys.nonEmpty) assert(places.readings(side)(keys.length - 1))
    }
    assert(shown(moved) == shown(placed(
      to._1,
      to._2,
      rows.map { case (row, (_, now)) =>
        row -> now
      }
    )))
  }

  private val buckets = ReachBuckets.of(5, 20, bothCopied = true).get

  for (old <- Seq(1, 2, 5); now <- Seq(1, 3, 8)) {
    test(s"rows move from $old to $now partitions with each routing") {
      val random = new Random(old * 10 + now)
      def move(routing: Routing, keys: Seq[KeyReading]) =
        check(routing -> old, routing -> now, keys, random)
      for (_ <- 1 to 20) {
        move(Routing.ByKey, Seq(byId))
        for (single <- Seq(None, Some(Side.Left), Some(Side.Right)))
          move(Routing.ByTime(single, buckets), Nil)
        move(Routing.Shared, Nil)
        for (side <- Side.both)
          move(Routing.Broadcast(side), Seq(byId.copy(hashed = false, placed = false)))
      }
    }
  }

  test("a hot key moves to the partition of its rows, not to that of a key with its hash") {
    val random = new Random(3)
    for (_ <- 1 to 10; (old, now) <- Seq(37 -> 41, 41 -> 37)) {
      val values = new KeyValues(byId, old, now)
      val places = (0L until 6L).map { id =>
        values.read(row(id, 0))
        values.oldPartition -> values.newPartition
      }
      // all keys of one hash and partition are spread, so it is the only one in both partitions
      val alone = places.filter(p => places.count(o => o._1 == p._1 || o._2 == p._2) == 1)
      val (before, after) = alone(random.nextInt(alone.length))
      def hot(partition: Int) =
        Routing.ByKeyAndTime(None, HotKeys(buckets, Seq(HotKey(7L, partition, from = 1))))
      check(
        hot(before) -> old,
        hot(after) -> now,
        Seq(byId.copy(hashed = false)),
        random,
        hash = Some(7L)
      )
    }
  }

  test("a reading is dropped if rows are in other partitions than it says") {
    val byTime = KeyReading(columns.drop(1), columns, hashed = false, placed = true)
    val rows = (0L until 40L).map(n => row(n % 6, n))
    val values = new KeyValues(byId, 5, 3)
    val readings = (0 until 5).map { p =>
      val keys = Seq(byTime, byId.copy(hashed = false))
      val places = new RowPlaces(join(Routing.ByKey, 5), BySide(keys, keys), 3, p)
      for (stored <- rows) {
        values.read(stored)
        if (values.oldPartition == p)
          places.foreach(StoredRow(Side.Left, 0L, 0L, Array(), matched = false, stored))((_, _) =>
            ()
          )
      }
      places.readings(Side.Left)
    }
    assert(readings.reduce(_ & _) == Set(1))
  }
}
