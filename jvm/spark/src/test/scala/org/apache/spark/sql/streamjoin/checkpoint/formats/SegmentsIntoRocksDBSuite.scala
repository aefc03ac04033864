package org.apache.spark.sql.streamjoin.checkpoint.formats

import java.nio.file.{Files, Path}
import java.util.UUID

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.checkpoint.{
  LongRow,
  StateFormat,
  StateShape,
  StoredNumbers,
  StoredRows,
  StoredState,
  StoredVersion
}
import org.apache.spark.sql.types.{LongType, StructType}
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{BySide, Side}

class SegmentsIntoRocksDBSuite extends AnyFunSuite {

  private val schema = new StructType().add("n", LongType)
  private val shape = StateShape(_ => schema, _ => 1, _ => 4, (_, row, _) => Array(row.getLong(0)))
  private val (segments, rocksdb) = (StateFormats.of("segments"), StateFormats.of("rocksdb"))
  private val takeOver = SegmentsIntoRocksDB.of(rocksdb, new SQLConf).get
  private val hadoopConf = new Configuration
  private val row = new LongRow(1)

  /**
   * Runs a batch with the rows from `20 * version`. The first is matched, and the next batch
   * removes it.
   */
  private def batch(format: StateFormat, id: StateStoreId, version: Long, rows: Long = 20): Unit =
    withStore(format, id, version) { (store, state) =>
      val from = version * rows
      for (n <- from until from + rows)
        state.rows.append(Side.Left, n % 7, n, Array(n), row(n), matched = n == from)
      if (version > 0) {
        val gone = from - rows
        val held = state.rows.probe(Side.Left, gone % 7, gone, gone)
        held.foreach(_ => held.remove())
        held.close()
        state.rows.discard(Side.Left, Array(version - 1), Array(version))
      }
      new StoredNumbers(store).put("watermark.0", version * 10)
      state.flush()
      store.commit()
    }

  private def withStore[T](format: StateFormat, id: StateStoreId, version: Long)(
      body: (StateStore, StoredState) => T
  ): T = {
    val provider = StateStoreProvider.createAndInit(
      StateStoreProviderId(id, UUID.randomUUID()),
      StoredNumbers.key,
      StoredNumbers.value,
      StoredNumbers.encoder,
      useColumnFamilies = true,
      format.settings(new SQLConf),
      hadoopConf,
      useMultipleValuesPerKey = false,
      None
    )
    try {
      def open = provider.getStore(version, None)
      val store =
        if (format == segments) open else takeOver.opened(id, version, shape, hadoopConf)(open)
      try body(store, format.open(store, shape))
      finally if (!store.hasCommitted) store.abort()
    } finally provider.close()
  }

  /**
   * The content of a version: its rows with matched flags, and the watermark of the last eviction.
   */
  private def held(format: StateFormat, id: StateStoreId, version: Long): Any = {
    val conf = format.settings(new SQLConf)
    val rows = BySide(schema, schema)
    val stored: StoredRows =
      format.read(StoredVersion(id, version, None, rows, conf), hadoopConf, inUse = false)
    try
      (
        stored.rows
          .map(r => (r.side, r.key, r.time, r.limits.toSeq, r.matched, r.row.getLong(0)))
          .toSet,
        stored.watermark(Side.Left)(0)
      )
    finally stored.close()
  }

  private def in(body: StateStoreId => Unit): Unit = {
    val folder = Files.createTempDirectory("formats")
    try body(StateStoreId(folder.toString, 0, 0))
    finally Files.walk(folder).iterator.asScala.toSeq.reverse.foreach(Files.delete)
  }

  private def folder(id: StateStoreId): Path = Path.of(id.storeCheckpointLocation().toString)

  for (last <- Seq(1L, 4L))
    test(s"version $last is converted with equal rows, and later versions are equal") {
      in { id =>
        for (version <- 0L until last) batch(segments, id, version)
        val before = held(segments, id, last)
        withStore(rocksdb, id, last) { (store, state) =>
          assert(new StoredNumbers(store).get("watermark.0").contains((last - 1) * 10))
          assert(state.rows.size(Side.Left) == before.asInstanceOf[(Set[_], _)]._1.size)
        }
        assert(held(rocksdb, id, last) == before)
        // later versions are as if the state had been in RocksDB from the first batch
        for (version <- last until last + 3) {
          batch(segments, id, version)
          batch(rocksdb, id, version)
          assert(held(rocksdb, id, version + 1) == held(segments, id, version + 1))
        }
      }
    }

  test("a conversion replaces files of a killed attempt, and is not repeated") {
    in { id =>
      for (version <- 0L until 3L) batch(segments, id, version)
      Files.createDirectories(folder(id))
      Files.write(folder(id).resolve("1.zip"), Array[Byte](1, 2, 3))
      val before = held(segments, id, 3)
      withStore(rocksdb, id, 3)((_, _) => ())
      assert(held(rocksdb, id, 3) == before)
      val made = Files.getLastModifiedTime(folder(id).resolve("3.zip"))
      withStore(rocksdb, id, 3)((_, _) => ())
      assert(Files.getLastModifiedTime(folder(id).resolve("3.zip")) == made)
    }
  }

  test("a conversion of more rows than one chunk keeps all rows") {
    in { id =>
      batch(segments, id, 0, rows = 250000)
      val before = held(segments, id, 1)
      withStore(rocksdb, id, 1)((_, _) => ())
      assert(held(rocksdb, id, 1) == before)
    }
  }

  test("a conversion of a missing version fails and creates no file") {
    in { id =>
      batch(segments, id, 0)
      intercept[Exception](withStore(rocksdb, id, 2)((_, _) => ()))
      assert(!Files.exists(folder(id).resolve("2.zip")))
    }
  }
}
