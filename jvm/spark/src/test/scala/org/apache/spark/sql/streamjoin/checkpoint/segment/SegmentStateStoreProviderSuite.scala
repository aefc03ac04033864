package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path => LocalPath, StandardCopyOption}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try}

import org.apache.commons.io.FileUtils
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.checkpoint.{
  LongRow,
  StateShape,
  StoredNumbers,
  StoredVersion
}
import org.apache.spark.sql.streamjoin.errors.StreamJoinRuntimeException
import org.apache.spark.sql.types.{LongType, StructType}
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.model.Side.{Left, Right}
import io.streamjoin.state.Probed
import io.streamjoin.state.segment.SegmentJoinState
import io.streamjoin.testing.RandomCases

class SegmentStateStoreProviderSuite extends AnyFunSuite {
  import SegmentStateStoreProviderSuite._

  protected def settings: Seq[(String, String)] = Nil

  protected def in(body: State => Unit): Unit = inFolder(settings, body)

  test("each version can be loaded, from memory and from files") {
    in { state =>
      val provider = state.provider()
      for (n <- 1L to 4L) state.batch(provider, n - 1)(add(_, n))
      for (reader <- Seq(provider, state.provider()); n <- Seq(4L, 3L, 1L, 2L, 4L)) {
        assert(state.read(reader, n) == (1L to n).toSet, s"version $n")
      }
    }
  }

  test("a batch that is run again undoes its previous changes") {
    in { state =>
      val provider = state.provider()
      state.batch(provider, 0)(add(_, 1L, 2L))
      for (_ <- 1 to 3) {
        state.batch(provider, 1) { rows =>
          removeRows(rows.probe(Left, 1, 1, 1))
          mark(rows.probe(Left, 2, 2, 2))
          add(rows, 3L)
        }
        assert(state.read(provider, 2) == Set(2L, 3L))
      }
      val again = state.provider()
      assert(state.read(again, 2) == Set(2L, 3L))
      assert(state.read(again, 2, matched = true) == Set(2L))
      assert(state.read(again, 1, matched = true).isEmpty)
    }
  }

  test("an aborted task leaves no changes and no file") {
    in { state =>
      val provider = state.provider()
      state.batch(provider, 0)(add(_, 1L))
      val store = provider.getStore(1, None, false, false).asInstanceOf[SegmentStateStore]
      val rows = store.open(shape)
      add(rows, 2L)
      rows.discard(Left, Array(0L), Array(2L))
      store.abort()
      assert(state.read(provider, 1) == Set(1L))
      assert(state.names.count(_.endsWith(".change")) == 1)
    }
  }

  test("maintenance after the checkpoint was deleted does not create its folder") {
    in { state =>
      val provider = state.provider()
      for (n <- 1L to 20L) state.batch(provider, n - 1)(add(_, n))
      val folder = LocalPath.of(state.id.storeCheckpointLocation().toString)
      assert(Files.isDirectory(folder))
      FileUtils.deleteDirectory(folder.toFile)
      provider.doMaintenance()
      assert(!Files.exists(folder))
    }
  }

  test("two tasks at one version do not see each other's rows") {
    in { state =>
      val provider = state.provider()
      state.batch(provider, 0)(add(_, 1L))
      val stores =
        Seq.fill(2)(provider.getStore(1, None, false, false).asInstanceOf[SegmentStateStore])
      val rows = stores.map(_.open(shape))
      add(rows.head, 10L)
      add(rows.last, 10L)
      assert(rows.map(_.size(Left)) == Seq(2L, 2L))
      for ((store, some) <- stores.zip(rows)) {
        some.number()
        store.commit()
      }
      assert(state.read(provider, 2) == Set(1L, 10L))
      state.batch(provider, 2)(add(_, 11L))
      assert(state.read(state.provider(), 3) == Set(1L, 10L, 11L))
    }
  }

  test("evicted rows are not restored from files") {
    in { state =>
      val provider = state.provider()
      state.batch(provider, 0)(add(_, 1L, 5L, 9L))
      state.batch(provider, 1)(_.discard(Left, Array(Long.MinValue), Array(6L)))
      state.batch(provider, 2)(add(_, 20L))
      assert(state.read(state.provider(), 3) == Set(9L, 20L))
      assert(state.read(state.provider(), 1) == Set(1L, 5L, 9L))
    }
  }

  test(
    "rows without limits that are replaced in each batch do not grow count or memory"
  ) {
    val forEver = shape.copy(
      limits = _ => 0,
      limitsOf = (_, _, _) => Array.emptyLongArray,
      timeIndex = _ => true
    )
    in { state =>
      val provider = state.provider()
      var held = Seq.empty[Long]
      for (n <- 0L until 40L) {
        state.batch(provider, n, of = forEver) { rows =>
          for (key <- 0L until 500L) {
            removeRows(rows.probe(Left, key, key, key))
            rows.append(Left, key, key, Array.emptyLongArray, value(n), matched = false)
          }
          held :+= rows.allocated
        }
        if (n % 3 == 0) provider.doMaintenance()
      }
      assert(held.last <= held(3))
      for (reader <- Seq(provider, state.provider())) {
        val store = reader.getStore(40, None, false, false).asInstanceOf[SegmentStateStore]
        val rows = store.open(forEver)
        assert(rows.size(Left) == 500)
        for (key <- 0L until 500L)
          assert(rows.probe(Left, key, key, key).map(_.row.getLong(0)).toList == List(39L))
        store.abort()
      }
    }
  }

  test("stored numbers have the version of the rows") {
    in { state =>
      val provider = state.provider()
      for (n <- 1L to 3L) state.batch(provider, n - 1, Map("watermark.0" -> n * 10))(add(_, n))
      for (reader <- Seq(provider, state.provider()); n <- Seq(2L, 3L, 1L)) {
        val store = reader.getStore(n, None, false, false).asInstanceOf[SegmentStateStore]
        store.open(shape)
        assert(new StoredNumbers(store).get("watermark.0").contains(n * 10))
        assert(new StoredNumbers(store).get("watermark.1").isEmpty)
        store.abort()
      }
    }
  }

  test("maintenance merges changes and keeps the retained versions readable") {
    in { state =>
      val provider = state.provider()
      for (n <- 1L to 60L) {
        state.batch(provider, n - 1) { rows =>
          add(rows, n)
          removeRows(rows.probe(Left, n - 2, n - 2, n - 2))
          rows.discard(Left, Array(0L), Array(n - 10))
        }
        if (n % 7 == 0) provider.doMaintenance()
      }
      provider.doMaintenance()
      // only the retained versions and those since the whole before them
      assert(state.names.length < Retained + 4 * Deltas, state.names)
      assert(state.names.count(_.endsWith(".whole")) >= 1)
      for (reader <- Seq(provider, state.provider()); n <- 60L - Retained to 60L) {
        assert(state.read(reader, n) == Set(n, n - 1), s"version $n")
      }
    }
  }

  test(
    "a large state with few changes is written once as a whole and has few files"
  ) {
    in { state =>
      val provider = state.provider()
      val batches = 110L
      state.batch(provider, 0)(add(_, 1L to 20000L: _*))
      def sizes = state.files.map(f => f.getFileName.toString -> Files.size(f)).toMap
      val whole = sizes.values.max
      var merged = Set.empty[String]
      var written = 0L
      for (n <- 1L to batches) {
        state.batch(provider, n) { rows =>
          // adds a row that stays and one that is removed before its file is merged; removes an old
          // one
          add(rows, 20000 + n, 50000 + n)
          removeRows(rows.probe(Left, 50000 + n - 3, 50000 + n - 3, 50000 + n - 3))
          removeRows(rows.probe(Left, n, n, n))
          mark(rows.probe(Left, n + 1, n + 1, n + 1))
        }
        if (n % 4 == 0) provider.doMaintenance()
        for ((name, bytes) <- sizes if !name.endsWith("change") && !merged(name)) {
          merged += name
          written += bytes
        }
      }
      assert(merged.exists(_.endsWith("range")))
      // the necessary whole, written once
      assert(written < whole * 1.2, merged)
      assert(state.names.length <= Retained + 45, state.names)
      // each batch removes the row with its number, and one that was added three batches before
      def left(n: Long) = (n + 1 to 20000 + n).toSet ++ (50000 + n - 2 to 50000 + n)
      for (reader <- Seq(provider, state.provider()); n <- Seq(batches, batches - Retained))
        assert(state.read(reader, n + 1) == left(n))
      assert(state.read(state.provider(), batches + 1, matched = true) == Set(batches + 1))
    }
  }

  test("random states read each version equal to the model after merges") {
    RandomCases.forAll(4) { random =>
      in { state =>
        var provider = state.provider()
        var at = Map(0L -> Set.empty[Long])
        var newest, watermark = 0L
        for (step <- 1L to 45L) {
          var now = at(newest)
          state.batch(provider, newest) { rows =>
            for (n <- now if random.nextInt(4) == 0) {
              removeRows(rows.probe(Left, n, n, n))
              now -= n
            }
            for (i <- 0 until random.nextInt(5)) {
              add(rows, step * 10 + i)
              now += step * 10 + i
            }
            if (random.nextInt(9) == 0) {
              watermark = math.max(watermark, step * 10 - random.nextInt(200))
              rows.discard(Left, Array(0L), Array(watermark))
              now = now.filter(_ >= watermark)
            }
          }
          newest += 1
          at += newest -> now
          if (random.nextInt(3) == 0) provider.doMaintenance()
          if (random.nextInt(6) == 0) provider = state.provider()
          for (version <- Seq(newest, math.max(1, newest - random.nextInt(Retained))))
            assert(state.read(state.provider(), version) == at(version), s"version $version")
        }
      }
    }
  }

  test("maintenance deletes unfinished files of old versions") {
    in { state =>
      val provider = state.provider()
      state.batch(provider, 0)(add(_, 0L))
      val folder = state.files.head.getParent
      def unfinished(version: Long) =
        Files.createFile(folder.resolve(s".${version}_a-b.change.c-d.tmp"))
      val old = unfinished(2)
      val newest = unfinished(41)
      for (n <- 1L to 39L) {
        state.batch(provider, n)(add(_, n))
        provider.doMaintenance()
      }
      assert(!Files.exists(old))
      // it could belong to a running task
      assert(Files.exists(newest))
    }
  }

  test("maintenance during a batch keeps all versions readable") {
    in { state =>
      val provider = state.provider()
      for (n <- 1L to 20L) state.batch(provider, n - 1)(add(_, n))
      state.batch(provider, 20) { rows =>
        add(rows, 21L)
        provider.doMaintenance()
      }
      provider.doMaintenance()
      assert(state.names.count(_.endsWith(".whole")) == 1)
      assert(state.read(state.provider(), 21) == (1L to 21L).toSet)
      assert(state.read(state.provider(), 20) == (1L to 20L).toSet)
    }
  }

  test("a version is read completely while its files are merged and deleted") {
    in { state =>
      val provider = state.provider()
      for (n <- 1L to 5L) state.batch(provider, n - 1)(add(_, n))
      var looks = 0
      val files = new StateFiles(state.id.storeCheckpointLocation(), new Configuration, "lz4") {
        override def list(): Seq[StateFile] = {
          val found = super.list()
          looks += 1
          if (looks == 2) {
            provider.doMaintenance()
            for (n <- 6L to 5L + Retained + 1) state.batch(provider, n - 1)(add(_, n))
            provider.doMaintenance()
          }
          found
        }
      }
      val version = StoredVersion(state.id, 5, None, BySide(schema, schema), state.conf())
      val rows = new SegmentReader(files, version).readAll().rows
      assert(rows.map(_.row.getLong(0)).toSeq.sorted == (1L to 5L))
      // the files that the reader listed first are deleted
      assert(looks > 2)
      assert(!state.names.exists(_.startsWith("4_")))
    }
  }

  test("maintenance of an earlier run leaves a recreated checkpoint unchanged") {
    in { state =>
      val before = state.provider()
      for (n <- 1L to 20L) {
        state.batch(before, n - 1)(add(_, n))
        before.doMaintenance()
      }
      val folder = state.files.head.getParent
      state.files.foreach(Files.delete)
      val provider = state.provider()
      for (n <- 1L to 3L) state.batch(provider, n - 1)(add(_, 100 + n))
      val unfinished = Files.createFile(folder.resolve(".4_some.change.other.tmp"))
      val names = state.names
      // Spark closes it right after
      before.doMaintenance()
      assert(state.names == names && Files.exists(unfinished))
      assert(state.read(state.provider(), 3) == Set(101L, 102L, 103L))
    }
  }

  test("a merge of an earlier run does not replace files of the next run") {
    in { state =>
      val before = state.provider()
      for (n <- 1L to 5L) state.batch(before, n - 1)(add(_, n))
      // the batch has failed in another partition, and is run again with another filter
      state.batch(state.provider(), 4)(add(_, 50L))
      before.doMaintenance()
      assert(state.names.exists(name => name.startsWith("5_") && name.endsWith(".whole")))
      assert(state.read(state.provider(), 5) == Set(1L, 2L, 3L, 4L, 50L))
    }
  }

  test("of two files of a version, the next run reads that of the last run, whatever their times") {
    def run(state: State, from: Long, to: Long, row: Long): Unit = {
      val provider = state.provider()
      for (n <- from to to) state.batch(provider, n - 1)(add(_, row + n))
    }
    // each run continues from a version that the run before it has reached or passed
    val runs = Seq(1L -> 5L, 5L -> 8L, 6L -> 7L, 1L -> 3L, 2L -> 9L, 9L -> 9L)
    for (backwards <- Seq(false, true)) in { state =>
      var expected = Map(0L -> Set.empty[Long])
      for (((from, to), i) <- runs.zipWithIndex) {
        val before = state.files.toSet
        val row = i * 100L
        run(state, from, to, row)
        for (n <- from to to) expected += n -> (expected(n - 1) + (row + n))
        val time = FileTime.fromMillis(if (backwards) 100000L - i * 1000 else 100000L)
        for (file <- state.files if !before(file)) Files.setLastModifiedTime(file, time)
        assert(state.read(state.provider(), to) == expected(to), s"run $i")
      }
    }
  }

  test("a copy of a file of the same version in its place is refused") {
    in { state =>
      for (row <- Seq(1L, 2L)) state.batch(state.provider(), 0)(add(_, row))
      val (one, other) = (state.files.head, state.files.last)
      assert(one != other)
      Files.copy(one, other, StandardCopyOption.REPLACE_EXISTING)
      val e = intercept[StreamJoinRuntimeException](state.read(state.provider(), 1))
      assert(e.getMessage.contains(s"it is a copy of ${one.getFileName}"))
    }
  }

  test("maintenance does nothing if another task has written a later version") {
    in { state =>
      val before = state.provider()
      for (n <- 1L to 20L) state.batch(before, n - 1)(add(_, n))
      val provider = state.provider()
      state.batch(provider, 20)(add(_, 21L))
      val names = state.names
      before.doMaintenance()
      assert(state.names == names)
      provider.doMaintenance()
      assert(state.names.exists(_.startsWith("21_")) && state.names.exists(_.endsWith(".whole")))
      assert(state.read(state.provider(), 21) == (1L to 21L).toSet)
    }
  }

  test("a merged file replaces files only if the file before it is in the list") {
    val changes = List(5L, 4L, 3L, 2L, 1L).map(StateFile.change(_, "a"))
    val one = StateFile(5, "a", 3)
    def after(files: List[StateFile]) = Version(5, files, Map.empty).mergedTo(one).files
    assert(after(changes) == one :: changes.drop(2))
    // another provider has merged the fourth file with the earlier ones
    val apart = List(changes.head, StateFile(4, "a", 0))
    assert(after(apart) == apart)
  }

  test("with checkpoint ids, a read returns the version with the requested id") {
    in { state =>
      val provider = state.provider("spark.sql.streaming.stateStore.checkpointFormatVersion" -> "2")
      val ids = Seq(1L, 2L).map(row => state.batch(provider, 0)(add(_, row)).stateStoreCkptId.get)
      val info = state.batch(provider, 1, id = Some(ids.head))(add(_, 3L))
      assert(info.baseStateStoreCkptId == ids.headOption)
      assert(state.read(provider, 1, id = ids.headOption) == Set(1L))
      assert(state.read(provider, 1, id = ids.lastOption) == Set(2L))
      assert(state.read(provider, 2, id = info.stateStoreCkptId) == Set(1L, 3L))
    }
  }

  private val harm: Seq[(String, LocalPath => Unit)] = Seq(
    "missing" -> (Files.delete(_)),
    "empty" -> (Files.write(_, Array.emptyByteArray)),
    "truncated" -> (f => Files.write(f, Files.readAllBytes(f).take(60))),
    "changed" -> { f =>
      val bytes = Files.readAllBytes(f)
      bytes(bytes.length / 2) = (bytes(bytes.length / 2) ^ 4).toByte
      Files.write(f, bytes)
    }
  )

  for ((what, change) <- harm)
    test(s"a file that is $what is refused, and no file changes") {
      in { state =>
        val provider = state.provider()
        for (n <- 1L to 3L) state.batch(provider, n - 1)(add(_, n))
        val file = state.files.find(_.getFileName.toString.startsWith("2_")).get
        change(file)
        Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
        val names = state.names
        val e = intercept[StreamJoinRuntimeException](state.read(state.provider(), 3))
        assert(e.getCondition == "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT")
        assert(e.getMessage.contains(file.getFileName.toString))
        assert(state.names == names)
      }
    }

  test("a flipped bit in any byte is refused, and in the header before the codec is used") {
    in { state =>
      val provider = state.provider()
      state.batch(provider, 0)(add(_, 1L))
      val file = state.files.head
      Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
      val bytes = Files.readAllBytes(file)
      // magic, format, two versions, two texts, their checksum
      val beginning = 4 + 4 + 8 + 8 + 2 + 5 + 8
      for (at <- bytes.indices; bit = 1 << at % 8) {
        val harmed = bytes.clone()
        harmed(at) = (harmed(at) ^ bit).toByte
        Files.write(file, harmed)
        Try(state.read(state.provider(), 1)) match {
          case Failure(e: StreamJoinRuntimeException) =>
            assert(e.getCondition == "STREAM_JOIN.INCOMPATIBLE_CHECKPOINT", s"byte $at")
            assert(at >= beginning || !e.getMessage.contains("CODEC"), s"byte $at")
          // the last bytes of the compressed data are not read
          case read => assert(read == Success(Set(1L)) && at >= beginning, s"byte $at")
        }
      }
      Files.write(file, bytes)
      assert(state.read(state.provider(), 1) == Set(1L))
    }
  }

  test("a version that was never written is refused") {
    in { state =>
      state.batch(state.provider(), 0)(add(_, 1L))
      val e = intercept[StreamJoinRuntimeException](state.read(state.provider(), 5))
      assert(e.getMessage.contains("there is no state of version 5"))
    }
  }
}

private[segment] object SegmentStateStoreProviderSuite {
  private val Retained = 5
  private val Deltas = 4

  private val schema = new StructType().add("n", LongType)
  val shape: StateShape =
    StateShape(_ => schema, _ => 1, _ => 4, (_, row, _) => Array(row.getLong(0)))
  private val row = new LongRow(1)

  def add(rows: SegmentJoinState[UnsafeRow], values: Long*): Unit =
    for (n <- values) rows.append(Left, n, n, Array(n), row(n), matched = false)

  def value(n: Long): UnsafeRow = row(n)

  def removeRows(found: Probed[_]): Unit = found.foreach(_ => found.remove())

  def mark(found: Probed[_]): Unit = found.foreach(_ => found.setMatched())

  def inFolder(settings: Seq[(String, String)], body: State => Unit): Unit = {
    val folder = Files.createTempDirectory("segments")
    try body(new State(folder, settings))
    finally Files.walk(folder).iterator.asScala.toSeq.reverse.foreach(Files.delete)
  }

  final class State(folder: LocalPath, common: Seq[(String, String)]) {

    val id: StateStoreId = StateStoreId(folder.toString, 0, 0)

    def conf(settings: (String, String)*): StateStoreConf = {
      val conf = new SQLConf
      conf.setConfString("spark.sql.streaming.minBatchesToRetain", s"$Retained")
      conf.setConfString("spark.sql.streaming.stateStore.minDeltasForSnapshot", s"$Deltas")
      for ((name, value) <- common ++ settings) conf.setConfString(name, value)
      SegmentFormat.settings(conf)
    }

    def provider(settings: (String, String)*): SegmentStateStoreProvider =
      begun(new SegmentStateStoreProvider, settings: _*)

    def begun(
        provider: SegmentStateStoreProvider,
        settings: (String, String)*
    ): SegmentStateStoreProvider = BegunProvider(id, conf(settings: _*), made = provider)

    def batch(
        provider: SegmentStateStoreProvider,
        version: Long,
        numbers: Map[String, Long] = Map.empty,
        id: Option[String] = None,
        of: StateShape = shape
    )(change: SegmentJoinState[UnsafeRow] => Unit): StateStoreCheckpointInfo = {
      val store = provider.getStore(version, id, false, false).asInstanceOf[SegmentStateStore]
      val state = SegmentFormat.open(store, of)
      change(state.rows.asInstanceOf[SegmentJoinState[UnsafeRow]])
      state.flush()
      val stored = new StoredNumbers(store)
      numbers.foreach { case (name, number) => stored.put(name, number) }
      assert(store.commit() == version + 1)
      assert(store.hasCommitted)
      store.getStateStoreCheckpointInfo()
    }

    def read(
        provider: SegmentStateStoreProvider,
        version: Long,
        matched: Boolean = false,
        id: Option[String] = None
    ): Set[Long] = {
      val store = provider.getStore(version, id, false, false).asInstanceOf[SegmentStateStore]
      val rows = store.open(shape)
      val found = mutable.ListBuffer.empty[Long]
      for (side <- Side.both)
        rows.foreach(side)(r => if (r.matched || !matched) found += r.row.getLong(0))
      assert(rows.size(Left) + rows.size(Right) == found.length || matched)
      assert(found.distinct.length == found.length)
      store.abort()
      found.toSet
    }

    def files: Seq[LocalPath] =
      Files.walk(folder).iterator.asScala.toSeq
        .filter(f => Files.isRegularFile(f) && !f.getFileName.toString.startsWith("."))
        .sortBy(_.getFileName.toString)

    def names: Seq[String] = files.map(_.getFileName.toString)
  }
}
