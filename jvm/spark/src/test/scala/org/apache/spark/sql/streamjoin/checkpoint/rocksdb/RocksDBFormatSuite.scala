package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import java.nio.file.{Files, Path}
import java.util.UUID

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.checkpoint.{
  FormatNumber,
  LongRow,
  StateShape,
  StoredNumbers,
  StoredState,
  StoredVersion
}
import org.apache.spark.sql.streamjoin.errors.StreamJoinRuntimeException
import org.apache.spark.sql.streamjoin.spark.StoreReports
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.{SparkConf, SparkContext}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{BySide, Side, Watermarks}

class RocksDBFormatSuite extends AnyFunSuite with BeforeAndAfterAll {
  import RocksDBFormatSuite._

  /** It spills after a few rows, and a task that keeps memory fails. */
  private lazy val context = new SparkContext(
    new SparkConf().setMaster("local[1]").setAppName("rocksdb").set("spark.ui.enabled", "false")
      .set("spark.shuffle.spill.numElementsForceSpillThreshold", "100")
      .set("spark.unsafe.exceptionOnMemoryLeak", "true")
  )

  override protected def afterAll(): Unit =
    try context.stop()
    finally super.afterAll()

  private val schema = new StructType().add("n", LongType)
  private val shape = StateShape(_ => schema, _ => 1, _ => 4, (_, row, _) => Array(row.getLong(0)))
  private val conf = RocksDBFormat.settings(new SQLConf)

  test("a store of another format version is refused for writing and reading, and unchanged") {
    in { folder =>
      val id = StateStoreId(folder.toString, 0, 0)
      withStore(id, 0) { store =>
        RocksDBFormat.open(store, shape).flush()
        new StoredNumbers(store).put(RocksDBLayout.FormatName, FormatNumber.Current + 1L)
        store.commit()
      }
      val before = files(folder)
      val refused = Seq(
        intercept[StreamJoinRuntimeException] {
          withStore(id, 1) { store =>
            try RocksDBFormat.open(store, shape)
            finally store.abort()
          }
        },
        intercept[StreamJoinRuntimeException] {
          val version = StoredVersion(id, 1, None, BySide(schema, schema), conf)
          RocksDBFormat.read(version, new Configuration, inUse = false)
        }
      )
      for (e <- refused) {
        assert(e.getCondition == "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT")
        assert(e.getMessage.contains("Found: format rocksdb 2. Expected: format rocksdb 1."))
      }
      assert(files(folder) == before)
    }
  }

  test("rows without limits stay until they are removed, and can be read") {
    in { folder =>
      val id = StateStoreId(folder.toString, 0, 0)
      val shape =
        StateShape(_ => schema, _ => 0, _ => 1, (_, _, _) => Array.emptyLongArray, _ => true)
      val row = new LongRow(1)
      for (version <- 0L to 3L) withStore(id, version) { store =>
        val state = RocksDBFormat.open(store, shape)
        for (n <- 0L until 5L) {
          val held = state.rows.probe(Side.Left, n, 0, 0)
          held.foreach(_ => held.remove())
          held.close()
          state.rows.append(
            Side.Left,
            n,
            0,
            Array.emptyLongArray,
            row(n * 10 + version),
            matched = false
          )
        }
        assert(state.rows.size(Side.Left) == 5)
        state.flush()
        store.commit()
      }
      val version = StoredVersion(id, 4, None, BySide(schema, schema), conf)
      val stored = RocksDBFormat.read(version, new Configuration, inUse = false)
      assert(stored.rows.map(_.row.getLong(0)).toSet == Set(3L, 13L, 23L, 33L, 43L))
      stored.close()
    }
  }

  test(
    "eviction skips rows that were removed under other limits than they were stored with"
  ) {
    in { folder =>
      val id = StateStoreId(folder.toString, 0, 0)
      withStore(id, 0)(storeFour)
      withStore(id, 1) { store =>
        val state = RocksDBFormat.open(store, aged(10))
        removeRow(state, 2)
        assert(state.rows.evict(Side.Left, Array(0), Array(4)).map(_.key).toSet == Set(0, 1))
        state.rows.discard(Side.Left, Array(4), Array(5))
        assert(state.rows.size(Side.Left) == 0)
        state.flush()
        store.commit()
      }
    }
  }

  test(
    "limit entries whose rows were all removed are deleted when they are due"
  ) {
    in { folder =>
      val id = StateStoreId(folder.toString, 0, 0)
      withStore(id, 0)(storeFour)
      withStore(id, 1) { store =>
        val state = RocksDBFormat.open(store, aged(10))
        for (n <- 0L until 4L) removeRow(state, n)
        def limits = store.iterator(RocksDBLayout.limits(Side.Left)).map(_.key.getLong(1)).toSeq
        assert(state.rows.size(Side.Left) == 0)
        assert(limits == Seq(1, 2, 3, 4))
        state.rows.discard(Side.Left, Array(0), Array(3))
        assert(limits == Seq(3, 4))
        state.rows.discard(Side.Left, Array(3), Array(9))
        assert(limits.isEmpty)
        store.commit()
      }
    }
  }

  test("least returns the lowest limit of the rows of this batch and of earlier ones") {
    in { folder =>
      val id = StateStoreId(folder.toString, 0, 0)
      val row = new LongRow(1)
      def least(version: Long, came: Seq[Long], goesBelow: (Long, Long)): Long =
        withStore(id, version) { store =>
          val state = RocksDBFormat.open(store, shape)
          for (n <- came) state.rows.append(Side.Left, n, n, Array(n), row(n), matched = false)
          state.rows.discard(Side.Left, Array(goesBelow._1), Array(goesBelow._2))
          val found = state.rows.least(Side.Left, 0)
          assert(state.rows.least(Side.Right, 0) == Long.MaxValue)
          assert(state.rows.least(Side.Left, 1) == Watermarks.Unknown)
          state.flush()
          store.commit()
          found
        }
      assert(least(0, Seq(7, -3, 12), (-10, -5)) == -3)
      assert(least(1, Seq(9), (-5, 5)) == 7)
      assert(least(2, Seq(6), (5, 6)) == 6)
      assert(least(3, Nil, (6, 10)) == 12)
      assert(least(4, Nil, (10, 20)) == Long.MaxValue)
    }
  }

  test("rows with several limits are read with their limits in order, also through the disk") {
    in { folder =>
      val id = StateStoreId(folder.toString, 0, 0)
      val two = shape.copy(limits = _ => 2, limitsOf = (_, row, _) => limitsOf(row.getLong(0)))
      val row = new LongRow(1)
      withStore(id, 0) { store =>
        val state = RocksDBFormat.open(store, two)
        for (n <- 0L until 1000L)
          state.rows.append(Side.Left, n % 7, n, limitsOf(n), row(n), matched = n % 2 == 0)
        state.flush()
        store.commit()
      }
      val session = new SQLConf
      StoreReports.withoutSnapshots(session)
      val settings = RocksDBFormat.settings(session)
      val version = StoredVersion(id, 1, None, BySide(schema, schema), settings)
      def readInTask(most: Int) =
        context.parallelize(Seq(version), 1).flatMap(readSome(_, most)).collect().toSeq
      assert(readInTask(Int.MaxValue).sortBy(_._1) ==
        (0L until 1000L).map(n => (n, limitsOf(n).toSeq, n % 2 == 0)))
      // the task fails if it keeps memory
      assert(readInTask(10).length == 10)
    }
  }

  /** A shape whose limits are the number of the row plus `by`. */
  private def aged(by: Long): StateShape =
    shape.copy(limitsOf = (_, row, _) => Array(row.getLong(0) + by), renewed = _ => true)

  private def storeFour(store: StateStore): Unit = {
    val row = new LongRow(1)
    val state = RocksDBFormat.open(store, aged(1))
    for (n <- 0L until 4L)
      state.rows.append(Side.Left, n, n, Array(n + 1), row(n), matched = false)
    state.flush()
    store.commit()
  }

  private def removeRow(state: StoredState, n: Long): Unit = {
    val held = state.rows.probe(Side.Left, n, n, n)
    held.foreach(_ => held.remove())
    held.close()
  }

  private def withStore[T](id: StateStoreId, version: Long)(body: StateStore => T): T = {
    val provider = StateStoreProvider.createAndInit(
      StateStoreProviderId(id, UUID.randomUUID()),
      StoredNumbers.key,
      StoredNumbers.value,
      StoredNumbers.encoder,
      useColumnFamilies = true,
      conf,
      new Configuration,
      useMultipleValuesPerKey = false,
      None
    )
    try body(provider.getStore(version, None))
    finally provider.close()
  }

  private def files(folder: Path): Map[Path, Seq[Byte]] =
    Files.walk(folder).iterator.asScala.filter(Files.isRegularFile(_))
      .map(f => f -> Files.readAllBytes(f).toSeq).toMap

  private def in(body: Path => Unit): Unit = {
    val folder = Files.createTempDirectory("rocksdb")
    try body(folder)
    finally Files.walk(folder).iterator.asScala.toSeq.reverse.foreach(Files.delete)
  }
}

private object RocksDBFormatSuite {

  /** Of equal sums, so that the first limits are in another order than the second. */
  def limitsOf(n: Long): Array[Long] = Array(n, 2000 - n)

  /** The first rows of a version: their numbers, limits, and whether they are matched. */
  def readSome(version: StoredVersion, most: Int): Seq[(Long, Seq[Long], Boolean)] = {
    val stored = RocksDBFormat.read(version, new Configuration, inUse = false)
    try stored.rows.take(most).map(r => (r.row.getLong(0), r.limits.toSeq, r.matched)).toList
    finally stored.close()
  }
}
