package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.io.{File, RandomAccessFile, UncheckedIOException}
import java.nio.file.{Files, Path, Paths}

import scala.util.Try

import org.apache.spark.sql.execution.streaming.state.StateStoreConf
import org.apache.spark.sql.streamjoin.errors.{StateErrors, StreamJoinRuntimeException}

import io.streamjoin.model.Side.Left
import io.streamjoin.state.segment.pages.{MemoryPool, Spilling}
import io.streamjoin.testing.LocalFiles

/** The same tests with so little memory that all rows of earlier batches are on the local disk. */
class SpillingProviderSuite extends SegmentStateStoreProviderSuite {
  import SegmentStateStoreProviderSuite._
  import SpillingProviderSuite._

  override protected def settings: Seq[(String, String)] =
    Seq("spark.sql.streamJoin.segmentMemory" -> "1")

  private val many = (1L to 1000L).toSet

  private def open(provider: SegmentStateStoreProvider, version: Long): SegmentStateStore =
    provider.getStore(version, None, false, false).asInstanceOf[SegmentStateStore]

  test("two tasks at one version have separate spill files") {
    in { state =>
      val provider = state.provider()
      state.batch(provider, 0)(add(_, many.toSeq: _*))
      val stores = Seq.fill(2)(open(provider, 1))
      val rows = stores.map(_.open(shape))
      for (some <- rows) assert(some.spilled > 1000 * 16)
      for (n <- many; some <- rows)
        assert(some.probe(Left, n, n, n).map(_.row.getLong(0)).toList == List(n))
      stores.foreach(_.abort())
      provider.close()
    }
  }

  test("the default memory limit is 30 % of the heap") {
    val spilling = LocalDisk.spilling(new StateStoreConf)
    assert(spilling.limit == (Runtime.getRuntime.maxMemory * 0.3).toLong)
  }

  test("a batch above the memory limit fails with advice, and commits nothing") {
    in { state =>
      val disk = new Disk
      val first = state.begun(disk.provider())
      state.batch(first, 0)(add(_, many.toSeq: _*))
      val fixed = disk.pool.fixed
      first.close()
      disk.most = fixed * 5 / 4
      val provider = state.begun(disk.provider())
      val version = state.names
      val e = intercept[StreamJoinRuntimeException] {
        state.batch(provider, 1)(add(_, 1001L to 3000L: _*))
      }
      assert(e.getCondition == "STREAM_JOIN.STATE_MEMORY_EXCEEDED")
      for (word <- Seq("segmentMemory", "maxBufferedRows", "rocksdb", "bounds", "executors"))
        assert(e.getMessage.contains(word))
      // nothing of the batch has been committed
      assert(state.names == version)
      // a restart fails with the same error
      provider.close()
      disk.most = fixed / 2
      // unlike the end of a task, this harness does not abort the failed store
      val used = disk.pool.used
      val again = state.begun(disk.provider())
      assert(intercept[StreamJoinRuntimeException](state.read(
        again,
        1
      )).getCondition == e.getCondition)
      assert(disk.pool.used == used)
      disk.most = Long.MaxValue
      assert(state.read(state.begun(disk.provider()), 1) == many)
    }
  }

  test(
    "the rows of an ended run are freed when the next run loads, also if a task ends late"
  ) {
    in { state =>
      val disk = new Disk
      val before = state.begun(disk.provider())
      state.batch(before, 0)(add(_, many.toSeq: _*))
      val used = disk.pool.used
      disk.most = disk.pool.fixed * 5 / 4
      val next = state.begun(disk.provider())
      assert(state.read(next, 1) == many)
      assert(disk.pool.used <= used)
      next.close()
      assert(disk.pool.used == 0)
      disk.most = Long.MaxValue
      val late = open(before, 1)
      late.open(shape)
      val last = state.begun(disk.provider())
      assert(state.read(last, 1) == many)
      late.abort()
      assert(disk.pool.used <= used)
      last.close()
      assert(disk.pool.used == 0)
    }
  }

  test("a full local disk fails the task, and a retry with free space restores all rows") {
    assume(Files.exists(Paths.get("/dev/full")))
    in { state =>
      val disk = new Disk
      val provider = state.begun(disk.provider())
      state.batch(provider, 0)(add(_, many.toSeq: _*))
      assert(disk.pool.used > 0)
      disk.newFile = LocalFiles.full
      // the rows from memory, then from the checkpoint
      for (_ <- 1 to 2) {
        val e = intercept[UncheckedIOException](state.read(provider, 1))
        assert(e.getMessage.endsWith("No space left on device"))
        assert(disk.pool.used == 0)
      }
      disk.newFile = LocalFiles.create
      state.batch(provider, 1)(add(_, 2000L))
      assert(state.read(provider, 2) == many + 2000L)
      provider.close()
    }
  }

  test("unreadable spilled rows fail the task, and the next task restores the checkpoint") {
    in { state =>
      LocalFiles.in { folder =>
        val link = folder.resolve("link")
        val disk = new Disk
        val provider = state.begun(disk.provider())
        disk.newFile = () => {
          val file = LocalFiles.create()
          Files.createLink(link, file.toPath)
          file
        }
        state.batch(provider, 0)(add(_, many.toSeq: _*))
        val store = open(provider, 1)
        val rows = store.open(shape)
        val file = new RandomAccessFile(link.toFile, "rw")
        file.setLength(1000)
        file.close()
        intercept[UncheckedIOException](rows.probe(Left, 900, 900, 900).foreach(_.row))
        store.abort()
        assert(disk.pool.used == 0)
        disk.newFile = LocalFiles.create
        assert(state.read(provider, 1) == many)
        provider.close()
      }
    }
  }

  test("the state frees memory and disk of rows that are no longer needed") {
    assume(Files.exists(Paths.get("/proc/self/fd")))
    in { state =>
      LocalFiles.in { folder =>
        val disk = new Disk
        val provider = state.begun(disk.provider())
        disk.newFile = () => Files.createTempFile(folder, "rows", "").toFile
        state.batch(provider, 0)(add(_, 1L))
        assert(opened(folder) == 0)
        val stores = Seq.fill(2)(open(provider, 1))
        stores.foreach { store =>
          store.open(shape).number()
        }
        assert(opened(folder) == 2)
        stores.foreach(_.commit())
        assert(opened(folder) == 1)
        // nothing is kept of a superseded version
        state.batch(provider, 2)(add(_, 2L))
        state.read(provider, 1)
        assert(opened(folder) == 0)
        assert(disk.pool.used == 0)
        state.read(provider, 3)
        assert(opened(folder) == 1)
        val late = open(provider, 3)
        late.open(shape)
        provider.close()
        late.abort()
        assert(opened(folder) == 0)
        assert(disk.pool.used == 0)
      }
    }
  }
}

private object SpillingProviderSuite {

  /** A local disk without memory for rows. */
  final class Disk {
    val pool = new MemoryPool
    var most: Long = Long.MaxValue
    var newFile: () => File = LocalFiles.create

    def provider(): SegmentStateStoreProvider =
      new SegmentStateStoreProvider(_ =>
        Spilling(
          pool,
          1,
          () => newFile(),
          most,
          StateErrors.stateMemoryExceeded(_, 1, most, 1L << 30)
        )
      )
  }

  /** The number of files of the folder that this process has open, also deleted ones. */
  private def opened(folder: Path): Int =
    new File("/proc/self/fd").listFiles.toSeq
      .flatMap(link => Try(Files.readSymbolicLink(link.toPath)).toOption)
      .count(_.startsWith(folder.toRealPath()))
}
